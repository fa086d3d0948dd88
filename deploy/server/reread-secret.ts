import { type Config, newestSecret, type SecretName } from '../../shared/runtime/config.ts'
import type { Logger } from '../../shared/runtime/logger.ts'

/** `newestSecret`, with a warning about a value that is not used. */
export const rereadSecret = <Name extends SecretName>(
  config: Pick<Config, Name | 'secretFiles'>,
  name: Name,
  logger: Logger,
): (() => Config[Name]) =>
  newestSecret(config, name, (err) =>
    logger.warn({ err }, 'the new value of a secret is not used; the previous one stays in use'),
  )
