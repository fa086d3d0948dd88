import { defineConfig } from 'vite'

/**
 * The page as static files. Their names are relative, and the server puts the base path into index.html, so that one build serves
 * below any prefix.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // One style sheet, and one script but for a part that few visits need: the others share most of what they are made of, so that together
    // they are smaller than apart.
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: true,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
})
