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

/** Adds the options that name a secret, for every command that needs an agent's secret. */
export function withSecret(command: Command): Command {
  return command
    .option('--secret-file <file>', 'the secret is in this file, one on a line; - for stdin')
    .option('--secret <secret...>', 'the secret itself; others on this machine can see it')
}

/**
 * Reads an agent's secrets from a file, stdin or the command line, or prompts for one with hidden input.
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

/** Reads a file, or stdin if its name is -. */
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

/** Prompts on the terminal itself, because stdin may be a pipe. */
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
