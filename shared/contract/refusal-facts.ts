import { described, flag, optionalText, text } from './json-schema.ts'

/** The facts that a Team is told about a refusal of its entry, or of a whole request. */
export const REFUSAL_FACTS = {
  at: text,
  endpoint: described(text, 'The path that was posted to.'),
  code: text,
  message: text,
  details: { description: 'As in the answer to the sender.' },
  index: {
    type: ['integer', 'null'],
    description: 'The place in the batch, from 0; null if the whole request or its only entry was refused.',
  },
  identifier: described(optionalText, 'The identifier that was addressed, from its beginning.'),
  keyPrefix: described(optionalText, 'The first characters of the key that was presented, 6 at most.'),
  userAgent: optionalText,
  body: described(optionalText, 'The body, or the entry of a batch: its first 8 KiB. Null where it was not read.'),
  bodyCut: flag,
} as const
