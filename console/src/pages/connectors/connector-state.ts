import { useQuery } from '@tanstack/react-query'
import { ask, type Row } from '../../api.ts'
import { api } from '../../paths.ts'

export type ConnectorSummary = Row<typeof api.connectors>

/** What a connector is doing, in one word: what hinders it first. */
export function stateOf(connector: ConnectorSummary): string {
  const { version, newest_passed, state, figures, fault } = connector
  if (fault !== null) return 'unreadable'
  if (version === null) return newest_passed ? 'ready' : 'needs_samples'
  if (state !== 'on' || !figures || figures.state === 'open') return state
  return figures.state === 'paused' ? 'paused' : 'probing'
}

/** Proposals about connectors that another person has to decide on: their ids, by the connector's name. */
export function useWaiting(): ReadonlyMap<string, string> {
  const { data } = useQuery({
    queryKey: ['approvals', 'of connectors'],
    queryFn: ({ signal }) => ask(api.approvals, { query: { state: 'open', limit: '200' }, signal }),
    refetchInterval: 15_000,
  })
  const own = (data?.data ?? []).filter(({ subject }) => subject.kind === 'provider')
  return new Map(own.map(({ id, subject }) => [subject.id, id]))
}
