import { Command } from 'commander'
import { openBulkPool } from '../seed/bulk-pool.ts'
import { seedOrders } from '../seed/seed-orders.ts'
import { withDesk } from './command.ts'
import { note, print, printJson, progress, table } from './output.ts'
import { UsageError } from './usage-error.ts'

const most = 5_000_000

export function seedCommand(): Command {
  return new Command('seed')
    .option('--orders <n>', 'how many orders', '10000')
    .option('--start <n>', 'another number makes up another history', '1')
    .option('--json', 'as JSON')
    .action(async (options: { orders: string; start: string; json?: boolean }) => {
      const orders = wholeNumber('--orders', options.orders)
      const start = wholeNumber('--start', options.start)
      await withDesk(async (desk, { databaseUrl }, { mode }) => {
        if (mode !== 'sandbox') throw new UsageError('this works in the sandbox only')
        const began = performance.now()
        const bulkPool = openBulkPool(databaseUrl, (error) =>
          note(`the database: ${error.message}`),
        )
        const seeded = await seedOrders(
          { ...desk, bulkPool },
          {
            orders,
            now: desk.now(),
            start,
            onProgress: (done) => progress(`${done} of ${orders} orders`),
          },
        ).finally(() => bulkPool.end())
        progress('')
        const seconds = Math.round((performance.now() - began) / 100) / 10
        const agents = seeded.agents.map(({ appId, secret, name }) => ({
          app_id: appId,
          secret,
          name,
        }))
        if (options.json) return printJson({ orders: seeded.orders, seconds, agents })
        print(
          table(
            ['APP ID', 'SECRET', 'NAME'],
            agents.map(({ app_id, secret, name }) => [app_id, secret, name]),
          ),
        )
        print(`${seeded.orders} orders in ${seconds} s. Prove them with: sluice verify`)
      })
    })
}

function wholeNumber(option: string, text: string): number {
  if (!/^\d{1,7}$/.test(text) || Number(text) < 1 || Number(text) > most) {
    throw new UsageError(`${option} must be a whole number from 1 to ${most}`)
  }
  return Number(text)
}
