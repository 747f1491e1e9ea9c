import { underWayOf } from './claim-callbacks.ts'
/** Where a page begins: after this callback. */
export interface CallbackPlace {
  agentId: bigint
  seq: bigint
  /** The list's sort key: the due time for waiting callbacks, otherwise the time of the outcome. */
  time: Date
}

/** Which callbacks to search for. */
export interface CallbackSearch {
  agentIds: readonly bigint[]
  state: string | undefined
  /** Only outcomes at or before this time. */
  until: Date | undefined
  after: CallbackPlace | undefined
  limit: number
}

/** Waiting callbacks are sorted by due time, all others by the time of the outcome. */
export function goesByDue(state: string | undefined): boolean {
  return state === 'waiting' || state === 'failing' || state === 'paused'
}

/** Each state has its own index, so each is read separately. */
export const undelivered = ['waiting', 'paused', 'sending', 'exhausted', 'superseded', 'no_address']

/** Spelled out as literals, so that the planner can match each state to its partial index. */
export function conditionOf(state: string | undefined): string {
  const paused = 'select 1 from callback_lanes p where p.agent_id = a.agent_id and p.paused'
  const underWay = underWayOf('a.agent_id')
  switch (state) {
    case undefined:
      return 'true'
    case 'waiting':
      return `x.state = 'waiting' and not exists (${paused}) and x.seq <> all(${underWay})`
    case 'paused':
      return `x.state = 'waiting' and exists (${paused}) and x.seq <> all(${underWay})`
    case 'failing':
      return `x.state = 'waiting' and x.attempts > 0`
    case 'exhausted':
    case 'superseded':
      return `x.state in ('exhausted', 'superseded') and x.state = '${state}'`
    case 'sending':
      return `x.state = 'waiting' and x.seq = any(${underWay})`
    case 'no_address':
    case 'delivered':
      return `x.state = '${state}'`
    default:
      throw new Error(`${state} is no state of a callback`)
  }
}
