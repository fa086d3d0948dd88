import { defineConfig } from 'vite'

/**
 * Builds the page as static files. Asset names are relative, and the server inserts the base path into index.html, so that one build works
 * below any prefix.
 */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // One style sheet, and one script except for rarely needed parts: the others share most of their code, so that together they are
    // smaller than apart.
    cssCodeSplit: false,
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: true,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
})
