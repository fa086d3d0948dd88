#!/usr/bin/env node
/**
 * Starts deploy/main.ts. Plain JavaScript, because a Node that does not strip types cannot read that file, and its error names neither
 * the cause nor the cure.
 */
const NODE_MIN = '24.6'
const { node: version } = process.versions
const [major, minor] = version.split('.').map(Number)
const [majorMin, minorMin] = NODE_MIN.split('.').map(Number)
/** The errors of a Node that was told not to strip types, or not to run WebAssembly, which strips them. */
const UNREADABLE = ['ERR_UNKNOWN_FILE_EXTENSION', 'ERR_WEBASSEMBLY_NOT_SUPPORTED']

if (major > majorMin || (major === majorMin && minor >= minorMin)) {
  try {
    await import('./deploy/main.ts')
  } catch (error) {
    if (!UNREADABLE.includes(error.code)) throw error
    process.stderr.write(
      'Sluice is TypeScript, which Node cannot run with these options. Start it without --jitless and\n' +
        `--no-experimental-strip-types; NODE_OPTIONS is ${JSON.stringify(process.env.NODE_OPTIONS ?? '')}.\n`,
    )
    process.exitCode = 1
  }
} else {
  process.stderr.write(
    `Sluice needs Node ${NODE_MIN} or newer. This is Node ${version}, ${process.execPath}.\n` +
      `Install Node ${majorMin}; or run \`npm ci\` here, which brings one for \`npm start\` and \`npm run sluice -- COMMAND\`.\n`,
  )
  process.exitCode = 1
}
