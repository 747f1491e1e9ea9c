import { isIPv6, type LookupFunction } from 'node:net'
import { type CallbackTargets, vettedAddresses } from '../agents/callback-url.ts'
import type { ResolveHost } from '../agents/resolve-host.ts'
import { ForbiddenAddress, NameNotResolved } from './failure-in-words.ts'

/**
 * Resolves names for connections to addresses that may be dialled. A name with one forbidden address is not dialled at
 * all. `onFound` is told the address that is dialled, or undefined if there is none.
 */
export function makeVettedLookup(
  targets: CallbackTargets,
  resolveHost: ResolveHost,
  onFound: (host: string, address: string | undefined) => void = () => {},
): LookupFunction {
  return (host, { all }, done) => {
    const giveUp = (error: Error) => {
      onFound(host, undefined)
      done(error, '', 0)
    }
    vettedAddresses(host.replace(/\.$/, ''), targets, resolveHost).then(
      (found) => {
        if (typeof found === 'string') return giveUp(new ForbiddenAddress(found))
        const entries = found.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
        const first = entries[0]
        if (!first) return giveUp(new ForbiddenAddress(`${host} has no address`))
        onFound(host, first.address)
        if (all) return done(null, entries)
        return done(null, first.address, first.family)
      },
      // Distinguishes a name server that refuses the connection from a receiver that does.
      (cause) => giveUp(new NameNotResolved(host, { cause })),
    )
  }
}
