/**
 * The bytes of a callback's row `c`. They are kept apart from it, in the month of the outcome; those of
 * outcomes from before they were are in the row itself.
 */
export const storedBody = `coalesce(c.body, (select b.body from callback_bodies b
    where b.agent_id = c.agent_id and b.seq = c.seq and b.created_at = c.created_at))`
