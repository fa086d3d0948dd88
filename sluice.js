#!/usr/bin/env node
/**
 * Starts deploy/main.ts. Plain JavaScript, because a Node that does not strip types cannot read that file, and its error names neither
 * the cause nor the cure.
 */
const NODE_MIN = '24.6'
const { node: version } = process.versions
const [major, minor] = version.split('.').map(Number)
const [majorMin, minorMin] = NODE_MIN.split('.').map(Number)

if (major > majorMin || (major === majorMin && minor >= minorMin)) {
  await import('./deploy/main.ts')
} else {
  process.stderr.write(
    `Sluice needs Node ${NODE_MIN} or newer. This is Node ${version}, ${process.execPath}.\n` +
      `Install Node ${majorMin}; or run \`npm ci\` here, which brings one for \`npm start\` and \`npm run sluice -- COMMAND\`.\n`,
  )
  process.exitCode = 1
}
