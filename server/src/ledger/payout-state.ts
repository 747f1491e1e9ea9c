/** How far one attempt at paying a withdrawal out has come. */
export type PayoutState =
  | 'handed'
  | 'accepted'
  | 'unknown'
  | 'not_found'
  | 'paid'
  | 'rejected'
  | 'cancelled'
  | 'returned'
