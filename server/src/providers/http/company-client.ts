import type { LookupFunction } from 'node:net'
import { Agent, request } from 'undici'
import type { CompanyAnswer } from './read-answer.ts'
import type { RenderedRequest } from './render-request.ts'

const maxAnswerBytes = 64 * 1024

/** There is no usable answer: what was asked for may or may not have happened. */
export class CompanySilent extends Error {}

export interface CompanyClientOptions {
  /** Resolves a name to addresses that may be dialled, and to no others. */
  lookup: LookupFunction
  /** Why an address may not be called, regardless of what its name resolves to. */
  urlFault: (url: string) => string | undefined
  /** Trusted authorities in the place of the usual ones, for tests. */
  ca?: string[] | undefined
}

/**
 * Calls companies. It follows no redirects, decompresses nothing, never repeats a call, and dials only addresses that
 * were vetted for the connection that it opens.
 */
export class CompanyClient {
  private readonly urlFault: CompanyClientOptions['urlFault']
  private readonly agent: Agent

  constructor({ lookup, urlFault, ca }: CompanyClientOptions) {
    this.urlFault = urlFault
    this.agent = new Agent({
      pipelining: 1,
      keepAliveTimeout: 4_000,
      maxHeaderSize: 32 * 1024,
      // The caller's signal is the deadline for everything.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { lookup, timeout: 10_000, ...(ca && { ca }) },
    })
  }

  /** Makes one call. Throws CompanySilent, in words. */
  async send(asked: RenderedRequest, signal: AbortSignal): Promise<CompanyAnswer> {
    const fault = this.urlFault(asked.url)
    if (fault !== undefined) throw new CompanySilent(`its address ${fault}`)
    try {
      const answer = await request(asked.url, {
        method: asked.method,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          'user-agent': 'Sluice',
          ...asked.headers,
        },
        ...(asked.body !== null && { body: asked.body }),
        signal,
        dispatcher: this.agent,
      })
      const restMs = restIn(answer.headers['retry-after'])
      return {
        status: answer.statusCode,
        ...(await firstBytes(answer.body)),
        ...(restMs !== undefined && { restMs }),
      }
    } catch (error) {
      throw new CompanySilent(inWords(error, signal), { cause: error })
    }
  }

  async close(): Promise<void> {
    await this.agent.destroy()
  }
}

async function firstBytes(
  body: AsyncIterable<Buffer>,
): Promise<Pick<CompanyAnswer, 'body' | 'isCut'>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    // Leaving the loop ends the connection.
    if (size > maxAnswerBytes) return { body: Buffer.alloc(0), isCut: true }
    chunks.push(chunk)
  }
  return { body: Buffer.concat(chunks) }
}

/** What the header Retry-After says, in seconds or as a date. */
function restIn(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}

function inWords(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'did not answer in time'
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ECONNREFUSED') return 'cannot be reached'
  if (['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(code)) {
    return 'closed the connection without an answer'
  }
  return `could not be asked: ${error instanceof Error ? error.message : String(error)}`
}
