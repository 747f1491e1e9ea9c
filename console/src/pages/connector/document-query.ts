import { queryOptions } from '@tanstack/react-query'
import { ask } from '../../api.ts'
import { api } from '../../paths.ts'

/** A version's document, which never changes. */
export const documentQuery = (name: string, version: number) =>
  queryOptions({
    queryKey: ['connector-document', name, version],
    queryFn: ({ signal }) => ask(api.connectorDocument, { params: { name, version }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
