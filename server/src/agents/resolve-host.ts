import { promises as dns } from 'node:dns'

/** Returns a name's current addresses. */
export type ResolveHost = (host: string) => Promise<string[]>

/**
 * Queries the name servers directly: the system's resolver has four threads for the whole process, and a name
 * that hangs would block all others. It handles `localhost`, but reads no hosts file.
 */
export function makeResolveHost(): ResolveHost {
  const resolver = new dns.Resolver({ timeout: 1_500, tries: 2 })
  return async (host) => {
    if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1']
    const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = answers.flatMap((answer) =>
      answer.status === 'fulfilled' ? answer.value : [],
    )
    if (addresses.length > 0) return addresses
    const [first] = answers
    throw first.status === 'rejected' ? first.reason : new Error(`${host} has no address`)
  }
}
