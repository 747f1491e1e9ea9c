/** The progress of one attempt at paying out a withdrawal. */
export type PayoutState =
  | 'handed'
  | 'accepted'
  | 'unknown'
  | 'not_found'
  | 'paid'
  | 'rejected'
  | 'cancelled'
  | 'returned'
