import type { Operations } from './api-schemas.ts'
import { saveFile } from './parts/save-file.ts'
import { problemWords } from './problem-words.ts'
import { root } from './root.ts'
import { words } from './words.ts'

export type Operation = keyof Operations
export type Answer<K extends Operation> = Operations[K]['answer']
export type Query<K extends Operation> = Operations[K]['query']
export type Body<K extends Operation> = Operations[K]['body']
/** One row of a list. */
export type Row<K extends Operation> = Answer<K> extends { data: (infer T)[] } ? T : never

export interface Input<K extends Operation> {
  params?: Record<string, string | number>
  query?: Partial<Query<K>> | Record<string, string | undefined>
  body?: Body<K>
  signal?: AbortSignal
}

/** The service's answer when it refuses a request. */
export interface ProblemBody {
  title: string
  status: number
  detail: string
  code: string
  request_id: string
  errors?: { field: string; message: string }[]
}

export class Refusal extends Error {
  readonly problem: ProblemBody

  constructor(problem: ProblemBody) {
    super(problem.detail)
    this.name = 'Refusal'
    this.problem = problem
  }
}

/** The service keeps the request as a proposal: a second person has to approve it. */
export class Proposed extends Error {
  readonly proposal: string

  constructor({ proposal, detail }: { proposal: string; detail: string }) {
    super(detail)
    this.name = 'Proposed'
    this.proposal = proposal
  }
}

/** The address of an operation, with its parameters filled in. */
export function addressOf<K extends Operation>(operation: K, input: Input<K> = {}): string {
  const path = operation.slice(operation.indexOf(' ') + 1)
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String(input.params?.[name] ?? '')),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined && value !== '') search.set(name, String(value))
  }
  return search.size === 0 ? root + filled : `${root}${filled}?${search}`
}

/**
 * Pages poll the service to stay up to date. Only requests made while the user is active keep the
 * session alive; the others are marked as background requests.
 */
const thereForMs = 60_000
let lastTouch = Date.now()
for (const sign of ['pointerdown', 'keydown', 'wheel']) {
  addEventListener(sign, () => {
    lastTouch = Date.now()
  })
}

function headersFor(changes: boolean): Record<string, string> {
  if (changes) return { 'content-type': 'application/json', 'x-sluice-console': '1' }
  return Date.now() - lastTouch > thereForMs ? { 'x-sluice-background': '1' } : {}
}

/**
 * Sends a request to the service. Throws a Refusal with the reason if the service refuses it, and a Proposed if a
 * second person has to approve it first.
 */
export async function ask<K extends Operation>(
  operation: K,
  input: Input<K> = {},
): Promise<Answer<K>> {
  const response = await send(operation, input)
  if (response.status === 202) throw new Proposed(await response.json())
  return response.json()
}

/** Sends a request whose answer is a file, and saves that under the name that the service gives it. */
export async function askForFile<K extends Operation>(
  operation: K,
  input: Input<K> = {},
): Promise<void> {
  const response = await send(operation, input)
  const [, name = 'file'] =
    /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '') ?? []
  saveFile(await response.blob(), name)
}

async function send<K extends Operation>(operation: K, input: Input<K>): Promise<Response> {
  const method = operation.slice(0, operation.indexOf(' '))
  const changes = method !== 'GET'
  const response = await fetch(addressOf(operation, input), {
    method,
    headers: headersFor(changes),
    ...(changes && { body: JSON.stringify(input.body ?? {}) }),
    ...(input.signal && { signal: input.signal }),
  }).catch((error: unknown) => {
    if (input.signal?.aborted) throw error
    throw new Refusal(unreachable)
  })
  if (!response.ok) throw new Refusal(await problemIn(response))
  return response
}

const unreachable: ProblemBody = {
  title: words.problems.unreachable,
  status: 0,
  detail: words.problems.unreachableDetail,
  code: 'unreachable',
  request_id: '',
}

async function problemIn(response: Response): Promise<ProblemBody> {
  try {
    return await response.json()
  } catch {
    // A proxy in between may answer with something other than the service's JSON.
    return {
      ...unreachable,
      status: response.status,
      title: words.problems.answered(response.status),
    }
  }
}

export function problemOf(error: unknown): ProblemBody {
  if (error instanceof Refusal) {
    const { problem } = error
    return { ...problem, title: problemWords[problem.code] ?? problem.title }
  }
  if (error instanceof Proposed) {
    return { ...unreachable, status: 202, title: words.problems.proposed, detail: error.message }
  }
  return { ...unreachable, title: words.problems.mistake, detail: String(error) }
}
