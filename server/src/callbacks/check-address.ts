import { type CallbackTargets, hostOf, urlFault, vettedAddresses } from '../agents/callback-url.ts'
import type { ResolveHost } from '../agents/resolve-host.ts'
import type { CallbackPoster } from './post-callback.ts'

export interface AddressStep {
  step: 'address' | 'name' | 'connection' | 'tls' | 'answer'
  ok: boolean
  says: string
}

/**
 * Sends a test request to a callback address, with the same vetting and dialling as a callback. The caller
 * learns only the status of the response. The request has no signature, so a careful receiver refuses it; any
 * answer except a redirect, a 404 or a server error shows that a receiver is there.
 */
export async function checkAddress(
  url: string,
  options: {
    targets: CallbackTargets
    resolveHost: ResolveHost
    poster: CallbackPoster
    version: string
  },
): Promise<AddressStep[]> {
  const fault = urlFault(url, options.targets)
  if (fault !== undefined) return [{ step: 'address', ok: false, says: fault }]
  const steps: AddressStep[] = [{ step: 'address', ok: true, says: 'can be a callback address' }]
  const { protocol } = new URL(url)
  const host = hostOf(new URL(url))
  const found = await vettedAddresses(host, options.targets, options.resolveHost).catch(
    () => `${host} has no address that the name servers know of`,
  )
  if (typeof found === 'string') return [...steps, { step: 'name', ok: false, says: found }]
  steps.push({ step: 'name', ok: true, says: `${host} is ${found.join(', ')}` })
  const attempt = await options.poster.post(
    url,
    {
      'content-type': 'application/json',
      'user-agent': `Sluice/${options.version}`,
      'x-sluice-check': '1',
    },
    Buffer.from('{}'),
  )
  const says = attempt.error ?? ''
  const { status, reason } = attempt
  const isSecure = protocol === 'https:'
  if (status === null && !['tls', 'bad_answer', 'closed'].includes(reason)) {
    return [...steps, { step: 'connection', ok: false, says }]
  }
  steps.push({ step: 'connection', ok: true, says: `connected to ${attempt.address ?? host}` })
  if (reason === 'tls') return [...steps, { step: 'tls', ok: false, says }]
  if (isSecure) steps.push({ step: 'tls', ok: true, says: 'the certificate is valid' })
  if (status === null) return [...steps, { step: 'answer', ok: false, says }]
  const isThere = status < 500 && status !== 404 && !(status >= 300 && status < 400)
  return [
    ...steps,
    {
      step: 'answer',
      ok: isThere,
      says: isThere
        ? `answered ${status} to a request without a signature, after ${attempt.durationMs} ms`
        : `answered ${status}: callbacks need an answer of 200 from this very address`,
    },
  ]
}
