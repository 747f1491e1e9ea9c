import { beforeAll, expect, it } from 'vitest'
import { loadShapes, refusedShapes, type Shape } from '../support/citus-shapes.ts'

const tables = new Set(['agents', 'wallets', 'orders', 'journal', 'callbacks', 'bank_reports'])

beforeAll(loadShapes)

const refused: [shape: Shape, statement: string][] = [
  ['lock', 'select 1 from callbacks where next_at < $1 for update skip locked'],
  ['lock', 'select 1 from callbacks where agent_id = any($1) for update'],
  [
    'insertBeside',
    'with a as (update orders set version = 1 where agent_id = $1 returning agent_id) insert into callbacks select agent_id from a',
  ],
  [
    'changesInWith',
    'with a as (update orders set version = 1 where version = 0 returning 1) update callbacks set seq = 1 where agent_id = $1',
  ],
  [
    'recursive',
    'with recursive a as (select 1 from orders union all select 1 from a) select 1 from a',
  ],
  [
    'lateral',
    'select 1 from unnest($1::bigint[]) as u(id), lateral (select 1 from orders o where o.agent_id = u.id limit 1) x',
  ],
  [
    'lateral',
    'select 1 from agents a cross join lateral (select 1 from orders o where o.agent_id = a.agent_id limit 1) x',
  ],
  [
    'correlated',
    'select 1 from agents a where exists (select 1 from orders o where o.agent_id = a.agent_id)',
  ],
  [
    'returning',
    'update orders set version = 1 where agent_id = $1 returning (select 1 from agents)',
  ],
  ['volatile', 'update orders set at = clock_timestamp() where agent_id = $1'],
  ['volatile', `update orders set text = to_char(created_at, 'YYYY') where agent_id = $1`],
  ['apart', 'select 1 from orders o join journal j on j.order_id = o.order_id'],
  ['apart', 'select 1 from orders o join bank_reports r on r.order_id = o.order_id'],
]

it.each(refused)('%s is seen in %s', (shape, statement) => {
  expect(refusedShapes(statement, tables)).toEqual([shape])
})

it.each([
  'select 1 from callbacks where agent_id = $1 for update skip locked',
  'select 1 from wallets w, lateral (select 1 from orders o where o.agent_id = w.agent_id limit 1) x',
  'select 1 from orders o join journal j on j.agent_id = o.agent_id and j.order_id = o.order_id',
  'select 1 from orders o join journal j using (agent_id, order_id)',
  'select 1 from orders o, journal j where o.agent_id = $1 and j.agent_id = $1',
  'select 1 from orders o join agents a on a.agent_id = o.agent_id where exists (select 1 from journal j where j.agent_id = o.agent_id)',
  'insert into orders select * from unnest($1::bigint[]) on conflict do nothing returning agent_id',
  'update orders o set version = u.version from unnest($1::bigint[], $2::int[]) u(id, version) where o.agent_id = u.id',
  'update callbacks set seq = 1 where agent_id = $1 and seq in (select seq from callbacks where agent_id = $1 for update skip locked limit 5) returning seq',
])('nothing is seen in %s', (statement) => {
  expect(refusedShapes(statement, tables)).toEqual([])
})
