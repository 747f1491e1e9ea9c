import { expect, it } from 'vitest'
import { AccessTokens } from '../../src/providers/http/access-tokens.ts'

const auth = {
  kind: 'oauth' as const,
  tokenUrl: 'https://pay.example/token',
  clientId: { text: 'us' },
  clientSecret: { secret: 'api' },
  credentials: 'basic' as const,
}

it('whoever asks first for a token and gives up does not end it for the others', async () => {
  let answer = () => {}
  let calls = 0
  const tokens = new AccessTokens({
    send: (_asked, signal) =>
      new Promise((resolve, reject) => {
        calls++
        signal.addEventListener('abort', () => reject(signal.reason))
        answer = () => resolve({ status: 200, body: Buffer.from('{"access_token":"t"}') })
      }),
  })
  const secrets = () => 'a long secret of the client'
  const impatient = new AbortController()
  const first = tokens.get(auth, secrets, impatient.signal)
  const second = tokens.get(auth, secrets, new AbortController().signal)
  impatient.abort()
  await expect(first).rejects.toThrow('in time')
  answer()
  expect([await second, calls]).toEqual(['t', 1])
})
