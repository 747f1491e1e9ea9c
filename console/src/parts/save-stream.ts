import { Refusal } from '../api.ts'
import { saveFile } from './save-file.ts'

/**
 * Saves the answer of an address as a file and counts its lines on the way. The pieces are blobs, which
 * browsers move to disk if there are many.
 */
export async function saveStream(
  address: string,
  name: string,
  signal: AbortSignal,
  tell: (lines: number) => void,
): Promise<number> {
  const response = await fetch(address, { signal })
  if (!response.ok) throw new Refusal(await response.json())
  if (!response.body) return 0
  let lines = 0
  const counted = response.body.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(piece, out) {
        for (const byte of piece) if (byte === 10) lines++
        tell(Math.max(0, lines - 1))
        out.enqueue(piece)
      },
    }),
  )
  const parts: Blob[] = []
  for (let reader = counted.getReader(); ; ) {
    const { value, done } = await reader.read()
    if (done) break
    parts.push(new Blob([value]))
  }
  saveFile(new Blob(parts, { type: 'text/csv' }), name)
  return Math.max(0, lines - 1)
}
