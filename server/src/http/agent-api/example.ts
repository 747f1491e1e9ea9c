/** A request to the agents' API and what the service answered. */
export interface Example {
  /** Including the query, as it was sent. */
  path: string
  body?: string
  status: number
  answer: unknown
}
