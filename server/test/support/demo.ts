import { join } from 'node:path'
import { dataFolder, type Env, freePort, type Running, root, start } from './process.ts'

export interface Demo {
  shopUrl: string
  sluiceUrl: string
  /** The settings it runs with, for commands beside it. */
  env: Env & { DATA_DIR: string }
  running: Running
}

/** `npm run demo` without npm, with ports and a database of its own; cleanUp() ends it. */
export async function startDemo(): Promise<Demo> {
  const [port, shopPort] = [await freePort(), await freePort()]
  const env = { PORT: String(port), SHOP_PORT: String(shopPort), DATA_DIR: await dataFolder() }
  const running = start(process.execPath, [join(root, 'demo/demo.js')], { env })
  const failed = running.ended.then(({ stderr }) => {
    throw new Error(`the demo did not start: ${stderr}`)
  })
  failed.catch(() => {})
  const ready = new Promise<void>((resolve) => {
    running.child.stdout?.on('data', () => running.stdout.includes('Ctrl-C') && resolve())
  })
  await Promise.race([ready, failed])
  return {
    shopUrl: `http://localhost:${shopPort}`,
    sluiceUrl: `http://localhost:${port}`,
    env,
    running,
  }
}
