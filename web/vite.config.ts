import { defineConfig } from 'vitest/config';
import { mockApi } from './mock/plugin.ts';

// Paths in the bundle are relative: the page works under any prefix, also behind a proxy.
export default defineConfig(({ command }) => ({
  base: './',
  plugins: command === 'serve' ? [mockApi()] : [],
  build: {
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0, // nothing as data: URL, the content security policy allows none
    rolldownOptions: {
      output: {
        entryFileNames: 'assets/[name].js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: 'assets/[name][extname]',
      },
    },
  },
  test: { include: ['src/**/*.test.ts', 'src/**/*.test.tsx'] },
}));
