import { openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { ReadStream } from 'node:tty'
import type { Command } from 'commander'
import { note } from './output.ts'
import { UsageError } from './usage-error.ts'

export interface SecretOptions {
  secret?: string[]
  secretFile?: string
}

/** The ways to name a secret, for every command that needs an agent's. */
export function withSecret(command: Command): Command {
  return command
    .option('--secret-file <file>', 'the secret is in this file, one on a line; - for stdin')
    .option('--secret <secret...>', 'the secret itself; others on this machine can see it')
}

/**
 * The secrets of an agent: from a file, from stdin, from the command line, or asked for without
 * showing what is typed.
 */
export async function readSecrets({ secret, secretFile }: SecretOptions): Promise<string[]> {
  if (secret !== undefined && secretFile !== undefined) {
    throw new UsageError('name the secret by --secret or by --secret-file, not by both')
  }
  if (secret !== undefined) return secret
  const text = secretFile === undefined ? await askHidden('secret: ') : await readInput(secretFile)
  const secrets = text
    .toString()
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
  if (secrets.length > 0) return secrets
  throw new UsageError('the secret is empty')
}

/** A file; stdin where it is called -. */
export async function readInput(file: string): Promise<Buffer> {
  if (file !== '-') {
    return readFile(file).catch((error: Error) => {
      throw new UsageError(`${file} cannot be read: ${error.message}`)
    })
  }
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  return Buffer.concat(chunks)
}

/** Asks on the terminal itself: stdin may be taken by what is piped in. */
async function askHidden(question: string): Promise<string> {
  let terminal: ReadStream
  try {
    terminal = new ReadStream(openSync('/dev/tty', 'r'))
  } catch {
    throw new UsageError(
      'there is no terminal to ask on: name the secret by --secret-file FILE or -',
    )
  }
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: terminal, output: silent, terminal: true })
  process.stderr.write(question)
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve)
      lines.once('SIGINT', () => reject(new UsageError('no secret was given')))
      lines.once('close', () => reject(new UsageError('no secret was given')))
    })
  } finally {
    note('')
    lines.close()
    terminal.destroy()
  }
}
