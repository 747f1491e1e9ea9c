/**
 * SQL for the body of a callback in row `c`. Bodies are in a separate table, by month of the outcome;
 * callbacks from before that table existed have theirs in the row itself.
 */
export const storedBody = `coalesce(c.body, (select b.body from callback_bodies b
    where b.agent_id = c.agent_id and b.seq = c.seq and b.created_at = c.created_at))`
