// npm's `prepare`: makes the page right after an installation. Plain JavaScript, as an installation without development
// dependencies may run on any Node; it has no Vite either, and then there is nothing to do: an image brings the page built.
try {
  import.meta.resolve('vite')
} catch {
  process.stdout.write('Vite is not installed, so the page is not built.\n')
  process.exit()
}
const { build } = await import('vite')
await build({ root: import.meta.dirname, logLevel: 'warn' })
