import { createHash, timingSafeEqual } from 'node:crypto'
import { Writable } from 'node:stream'
import type Client from 'ssh2-sftp-client'
import { type SecretKeys, seal, unseal } from '../lib/secret-box.ts'
import type { BankAccount } from './bank-account.ts'

/** Where a bank exchanges files, and what proves who is who. */
export interface SftpPlace {
  host: string
  /** The address of the host that is dialled, if it was chosen before. */
  address?: string
  port: number
  user: string
  /** The server's keys that are believed: SHA256 and base64. */
  hostKeys: readonly string[]
  privateKey: string
}

/** Why nothing could be exchanged, in words for the operator. */
export class SftpFault extends Error {}

/** A file in a folder of the bank. */
export interface SftpFile {
  name: string
  size: number
  modifiedAt: Date
}

export interface SftpSession {
  /** Undefined if there is no such file. */
  sizeOf(path: string): Promise<number | undefined>
  /** Refuses a file that is larger. */
  read(path: string, mostBytes: number): Promise<Buffer>
  /** Begins the file, waits for what has to be done before a byte of it leaves, and writes it. */
  write(path: string, bytes: Buffer, beforeBytes: () => Promise<void>): Promise<void>
  /** Fails if the new name is taken. */
  rename(from: string, to: string): Promise<void>
  list(folder: string): Promise<SftpFile[]>
}

const handshakeMs = 20_000

/** How long one visit to a bank may take, with everything that is done there. */
export const visitMs = 120_000

/**
 * Connects to a bank, if its server has a key that is pinned. Whatever happens there, it ends in time. The addresses of
 * private networks are as good as others: the operator chose them, and no agent can.
 */
export async function withSftp<T>(
  place: SftpPlace,
  work: (session: SftpSession) => Promise<T>,
  limitMs: number = visitMs,
): Promise<T> {
  // Few processes ever need it.
  const { default: SftpClient } = await import('ssh2-sftp-client')
  // Without these it prints.
  const quiet = { error: () => {}, end: () => {}, close: () => {} }
  const client = new SftpClient('sluice', quiet)
  // It tells of a broken connection by an event as well, which the failing call tells.
  client.on('error', () => {})
  let otherKey: string | undefined
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const tooLong = new Promise<never>((_resolve, reject) => {
    const seconds = Math.round(limitMs / 1_000)
    const late = () => reject(new SftpFault(`${place.host} did not finish within ${seconds} s.`))
    timer = setTimeout(late, limitMs)
  })
  const visit = async () => {
    const config = {
      host: place.address ?? place.host,
      port: place.port,
      username: place.user,
      privateKey: place.privateKey,
      readyTimeout: Math.min(handshakeMs, limitMs),
      hostVerifier: (key: Buffer) => {
        const found = fingerprint(key)
        const isPinned = place.hostKeys.some((each) => isSame(each, found))
        if (!isPinned) otherKey = found
        return isPinned
      },
    }
    await client.connect(config).catch((error) => {
      throw otherKey === undefined ? wordsOf(place, error) : otherKeyOf(place, otherKey)
    })
    return work(sessionOf(client, place, () => isOver))
  }
  try {
    return await Promise.race([visit(), tooLong])
  } finally {
    clearTimeout(timer)
    // Whoever is told that it failed must not find out that it went on.
    isOver = true
    client.end().catch(() => {})
  }
}

function sessionOf(client: Client, place: SftpPlace, isOver: () => boolean): SftpSession {
  const told = async <T>(act: () => Promise<T>): Promise<T> => {
    if (isOver()) throw new SftpFault(`The visit to ${place.host} is over.`)
    return act().catch((error) => {
      throw wordsOf(place, error)
    })
  }
  return {
    async sizeOf(path) {
      if ((await told(() => client.exists(path))) === false) return undefined
      const { size, isFile } = await told(() => client.stat(path))
      if (!isFile) throw new SftpFault(`${path} is not a file.`)
      return size
    },
    async read(path, mostBytes) {
      const chunks: Buffer[] = []
      let size = 0
      const into = new Writable({
        write(chunk: Buffer, _encoding, done) {
          size += chunk.length
          if (size > mostBytes) return done(new SftpFault(`${path} is larger than ${mostBytes}.`))
          chunks.push(chunk)
          done()
        },
      })
      await told(() => client.get(path, into))
      return Buffer.concat(chunks)
    },
    async write(path, bytes, beforeBytes) {
      const stream = client.createWriteStream(path)
      let lost = () => {}
      const closed = new Promise<void>((resolve, reject) => {
        // The stream does not hear of a connection that breaks.
        lost = () => reject(new Error('the connection broke'))
        client.on('close', lost)
        stream.once('close', resolve)
        stream.on('error', reject)
      })
      // It may fail while nobody waits for it yet.
      closed.catch(() => {})
      const opened = new Promise<void>((resolve) => stream.once('open', () => resolve()))
      try {
        await told(() => Promise.race([opened, closed]))
        await beforeBytes()
        await told(async () => stream.end(bytes))
        await told(() => closed)
      } finally {
        client.removeListener('close', lost)
        if (!stream.destroyed) stream.destroy()
      }
    },
    async rename(from, to) {
      await told(() => client.rename(from, to))
    },
    async list(folder) {
      const found = await told(() => client.list(folder))
      return found
        .filter(({ type }) => type === '-')
        .map(({ name, size, modifyTime }) => ({ name, size, modifiedAt: new Date(modifyTime) }))
    },
  }
}

/** A server's key as ssh-keygen -l writes it. */
function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function otherKeyOf({ host }: SftpPlace, found: string): SftpFault {
  return new SftpFault(
    `The server at ${host} has the key ${found}, which is not the one that is set: nothing was exchanged. Ask the bank whether it has a new key, by other means than this connection.`,
  )
}

function wordsOf({ host, port, user }: SftpPlace, error: unknown): SftpFault {
  if (error instanceof SftpFault) return error
  const text = error instanceof Error ? error.message : String(error)
  if (/authentication methods failed/i.test(text)) {
    return new SftpFault(`${host} does not let ${user} in with the private key that is set.`)
  }
  if (/privateKey|private key|passphrase/i.test(text)) {
    return new SftpFault('The private key cannot be read: it must be one without a passphrase.')
  }
  if (/ENOTFOUND|EAI_AGAIN|address lookup/i.test(text)) {
    return new SftpFault(`${host} is not a name that anything has.`)
  }
  if (/ECONNREFUSED|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|timed out/i.test(text)) {
    return new SftpFault(`${host} cannot be reached at port ${port}.`)
  }
  return new SftpFault(`${host}: ${text.slice(0, 500)}`)
}

function ownerOf(name: string): string {
  return `sftp key of ${name}`
}

export function sealSftpKey(secretKeys: SecretKeys, name: string, key: string): string {
  return seal(secretKeys, ownerOf(name), key).toString('base64')
}

/** Where an account's bank exchanges files; undefined if it does not, or no key opens the private key. */
export function sftpPlaceOf(secretKeys: SecretKeys, account: BankAccount): SftpPlace | undefined {
  const { name, sftpHost, sftpPort, sftpUser, sftpHostKey, sftpKey } = account
  if (sftpHost === null || sftpPort === null || sftpUser === null) return undefined
  if (sftpHostKey === null || sftpKey === null) return undefined
  const privateKey = unseal(secretKeys, ownerOf(name), Buffer.from(sftpKey, 'base64'))
  if (privateKey === undefined) return undefined
  const hostKeys = sftpHostKey.split(',')
  return { host: sftpHost, port: sftpPort, user: sftpUser, hostKeys, privateKey }
}
