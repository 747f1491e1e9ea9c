import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'

const root = join(import.meta.dirname, '../../..')

/**
 * Makes one program out of the built service and most of what it imports, and says where it is. Loading its
 * fifteen hundred files takes longer than all else that a process does until it serves, and tests start many.
 * Tests of the installation start the files themselves.
 */
export async function bundleService(folder: string): Promise<string> {
  mkdirSync(folder)
  // What is not bundled is found as before: native code, and what few processes load.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    plugins: [{ name: 'own-files', transform: withOwnAddress }],
    ssr: { noExternal: true, external: ['@node-rs/argon2', 'fontkit', 'pdfkit'] },
    build: {
      ssr: 'server/dist/main.js',
      outDir: folder,
      emptyOutDir: false,
      target: 'node20',
      minify: false,
      rolldownOptions: {
        output: { entryFileNames: 'sluice.mjs', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  })
  return join(folder, 'sluice.mjs')
}

/** Files beside a module are found from where it was, not from where it is now. */
function withOwnAddress(code: string, id: string): string {
  return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
}
