import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'vite'

const root = join(import.meta.dirname, '../../..')

/** Programs that run the built service: `sluice`, and the process of the chaos suite. */
export interface Programs {
  sluice: string
  chaosProcess: string
}

/**
 * Puts the built service and most of what it imports into a few files. Loading its fifteen hundred takes longer
 * than all else that a process does until it serves, and tests start many. Tests of the installation start the
 * files themselves.
 */
export async function bundlePrograms(folder: string): Promise<Programs> {
  mkdirSync(folder)
  // What is not bundled is found as before: native code, and what few processes load.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  await build({
    configFile: false,
    root,
    logLevel: 'error',
    plugins: [{ name: 'own-files', transform: withOwnAddress }],
    ssr: {
      noExternal: true,
      external: ['@node-rs/argon2', 'fontkit', 'pdfkit', 'ssh2-sftp-client'],
    },
    build: {
      ssr: true,
      outDir: folder,
      emptyOutDir: false,
      target: 'node20',
      minify: false,
      rolldownOptions: {
        input: {
          sluice: join(root, 'server/dist/main.js'),
          chaosProcess: join(root, 'server/test/chaos/service-process.js'),
        },
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  })
  return { sluice: join(folder, 'sluice.mjs'), chaosProcess: join(folder, 'chaosProcess.mjs') }
}

/** Files beside a module are found from where it was, not from where it is now. */
function withOwnAddress(code: string, id: string): string {
  return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
}
