import { mkdir, writeFile } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { join } from 'node:path'

const profileMs = 10_000

/**
 * Notes for ten seconds where the time goes and where memory is taken, and writes it to two files that Chrome's
 * developer tools open. They hold names of functions, and nothing that was in memory. Returns the files.
 */
export async function takeProfile(dataDir: string, now: Date): Promise<string[]> {
  const session = new Session()
  session.connect()
  try {
    await session.post('Profiler.enable')
    await session.post('HeapProfiler.enable')
    await session.post('HeapProfiler.startSampling')
    await session.post('Profiler.start')
    await new Promise((resolve) => setTimeout(resolve, profileMs))
    const { profile: cpu } = await session.post('Profiler.stop')
    const { profile: heap } = await session.post('HeapProfiler.stopSampling')
    const folder = join(dataDir, 'profiles')
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const name = join(folder, now.toISOString().replace(/[:.]/g, '-'))
    const files = { [`${name}.cpuprofile`]: cpu, [`${name}.heapprofile`]: heap }
    for (const [path, profile] of Object.entries(files)) {
      await writeFile(path, JSON.stringify(profile), { mode: 0o600 })
    }
    return Object.keys(files)
  } finally {
    session.disconnect()
  }
}
