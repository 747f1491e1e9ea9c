import { expect, test } from 'vitest'
import { vectors } from '../../../sdk/test/vectors.ts'
import {
  matchesAny,
  parseSignatureHeader,
  signCallback,
  signRequest,
} from '../../src/lib/signature.ts'

test.each(vectors.signed)('the service signs as the shared vector says: $kind, $name', (vector) => {
  const { kind, secrets, t, method = '', path = '', body, header } = vector
  const signatures = secrets.map((secret) =>
    kind === 'request' ? signRequest(secret, t, method, path, body) : signCallback(secret, t, body),
  )
  expect([`t=${t}`, ...signatures.map((v1) => `v1=${v1}`)].join(',')).toBe(header)
  const parsed = parseSignatureHeader(header)
  expect(parsed).toEqual({ t, signatures })
  for (const each of signatures) expect(matchesAny(each, parsed?.signatures ?? [])).toBe(true)
})

test('headers that the SDK refuses for their shape, the service refuses too', () => {
  for (const { reason, header } of vectors.refused) {
    expect(parseSignatureHeader(header) === undefined).toBe(reason === 'header_malformed')
  }
})
