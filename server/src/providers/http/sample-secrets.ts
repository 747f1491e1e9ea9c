import { generateKeyPairSync, randomBytes } from 'node:crypto'
import type { ConnectorDocument } from './connector-document.ts'
import type { Secrets } from './signed-bytes.ts'
import { keysOf } from './signing-faults.ts'

/** Secrets for trying: nobody's, made anew. Who signs with RSA or Ed25519 has one of two keys, who checks the other. */
export function sampleSecrets(document: ConnectorDocument): {
  signing: Secrets
  checking: Secrets
} {
  const signing = new Map<string, string>()
  const checking = new Map<string, string>()
  for (const { key, scheme } of keysOf(document)) {
    if (scheme?.kind === 'rsa' || scheme?.kind === 'ed25519') {
      const { privateKey, publicKey } =
        scheme.kind === 'rsa'
          ? generateKeyPairSync('rsa', { modulusLength: 2048 })
          : generateKeyPairSync('ed25519')
      const written = (pem: string | Buffer) => Buffer.from(pem).toString(key.decode ?? 'utf8')
      signing.set(key.secret, written(privateKey.export({ type: 'pkcs8', format: 'pem' })))
      checking.set(key.secret, written(publicKey.export({ type: 'spki', format: 'pem' })))
    } else if (!signing.has(key.secret)) {
      const text = randomBytes(32).toString(key.decode ?? 'hex')
      signing.set(key.secret, text)
      checking.set(key.secret, text)
    }
  }
  return { signing: (name) => signing.get(name), checking: (name) => checking.get(name) }
}
