import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const PAGES = join(import.meta.dirname, '../../docs/clients')

/** A code block in a page of docs/clients. Its info string says, after the language, how it is tested. */
export interface Block {
  readonly page: string
  readonly language: string
  /** `client=NAME`: a test runs the block unchanged; `file=PATH`: an excerpt of a file that a test uses; `untested`. */
  readonly held: string
  readonly text: string
}

/** All blocks of the pages in docs/clients. */
export const clientBlocks = (): readonly Block[] =>
  globSync('*.md', { cwd: PAGES })
    .toSorted()
    .flatMap((page) =>
      [...readFileSync(join(PAGES, page), 'utf8').matchAll(/^```(\w+)(.*)\n([\s\S]*?)^```$/gm)].map(
        ([, language = '', held = '', text = '']) => ({ page, language, held: held.trim(), text }),
      ),
    )

/** The script in the documentation of this client. */
export function clientScript(client: string): string {
  const block = clientBlocks().find(({ held }) => held === `client=${client}`)
  if (block === undefined) throw new Error(`no page of docs/clients has a block for client=${client}`)
  return block.text
}
