import { expect, it } from 'vitest'
import { splitStatements } from './split-statements.ts'

it('statements end at semicolons that stand in no text, name, comment or body', () => {
  const sql = `-- outside a transaction
-- first; and foremost
create index concurrently if not exists a on t (b);
/* two; of them */ insert into t values ('it''s; here', 1 - 2 / 3);
do $$ begin perform 1; end $$;
do $body$ begin perform $$;$$; end $body$;
select "odd;name" from t -- the last
`
  expect(splitStatements(sql)).toEqual([
    'create index concurrently if not exists a on t (b)',
    `insert into t values ('it''s; here', 1 - 2 / 3)`,
    'do $$ begin perform 1; end $$',
    'do $body$ begin perform $$;$$; end $body$',
    'select "odd;name" from t',
  ])
})
