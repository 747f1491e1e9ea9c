import { Command } from 'commander'
import { withdraw } from '../approvals/decide-proposal.ts'
import { findProposal, type Proposal, searchProposals, stateOf } from '../approvals/proposal.ts'
import { inTransaction } from '../db/in-transaction.ts'
import type { Pool } from '../db/pool.ts'
import { writeAudit } from '../operators/audit.ts'
import { nobody } from '../operators/credentials.ts'
import { takeAnswer } from '../operators/proposal-answers.ts'
import { withBackend } from './command.ts'
import { commandLine } from './on-record.ts'
import { print, printJson, table } from './output.ts'
import { UsageError } from './usage-error.ts'

export function proposalCommand(): Command {
  const proposal = new Command('proposal')

  proposal
    .command('list')
    .description('list what waits for a second person, the newest first')
    .option('--ended', 'what was decided on or expired instead')
    .option('--json', 'as JSON')
    .action(async (options: { ended?: boolean; json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const found = await searchProposals(pool, {
          state: options.ended ? 'ended' : 'open',
          agentId: null,
          proposedBy: null,
          before: null,
          now: new Date(),
          limit: 200,
        })
        const rows = found.map(view)
        if (options.json) return printJson(rows)
        print(
          table(
            ['PROPOSAL', 'ACTION', 'ABOUT', 'BY', 'STATE'],
            rows.map((row) => [
              row.id,
              row.action,
              `${row.subject.kind} ${row.subject.id}`,
              row.proposed_by,
              row.state,
            ]),
          ),
        )
      })
    })

  proposal
    .command('show <id>')
    .description('show a proposal, what it would change and what became of it')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const shown = view(await existing(pool, id))
        if (options.json) return printJson(shown)
        for (const [name, value] of Object.entries(shown)) {
          print(`${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        }
      })
    })

  proposal
    .command('withdraw <id>')
    .description('take back what the command line proposed')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      await withBackend(async ({ pool }) => {
        const found = await existing(pool, id)
        if (found.action === 'pay_out') {
          throw new UsageError('its agent cancels a withdrawal, or an operator declines it')
        }
        const shown = view(await withdraw(pool, found, commandLine, new Date()))
        if (options.json) return printJson(shown)
        print(`${id} is withdrawn`)
      })
    })

  proposal
    .command('answer <id>')
    .description('show the secret that a proposal of the command line made, once')
    .option('--json', 'as JSON')
    .action(async (id: string, options: { json?: boolean }) => {
      await withBackend(async ({ pool, secretKeys }) => {
        const { proposedBy } = await existing(pool, id)
        if (proposedBy !== nobody) {
          throw new UsageError('somebody else proposed it: they see it in the console')
        }
        const answer = await inTransaction(pool, async (tx) => {
          const taken = await takeAnswer(tx, secretKeys, id)
          if (taken === undefined) throw new UsageError('nothing is left to be shown')
          await writeAudit(tx, {
            at: new Date(),
            operator: commandLine,
            action: 'see_answer',
            subject: { kind: 'proposal', id },
            agentId: null,
          })
          return taken
        })
        if (options.json) return print(answer)
        for (const [name, value] of Object.entries(JSON.parse(answer))) print(`${name}  ${value}`)
      })
    })
  return proposal
}

async function existing(pool: Pool, id: string): Promise<Proposal> {
  const found = /^[0-9a-f]{32}$/.test(id) ? await findProposal(pool, id) : undefined
  if (found) return found
  throw new UsageError(`there is no proposal ${id}; "sluice proposal list" shows them`)
}

function view(proposal: Proposal) {
  const parsed = (text: string | null) => (text === null ? null : JSON.parse(text))
  return {
    id: proposal.proposalId,
    action: proposal.action,
    subject: { kind: proposal.subjectKind, id: proposal.subjectId },
    before: parsed(proposal.before),
    after: parsed(proposal.after),
    reason: proposal.reason,
    proposed_by: proposal.proposer,
    proposed_at: proposal.proposedAt.toISOString(),
    expires_at: proposal.expiresAt.toISOString(),
    state: stateOf(proposal, new Date()),
    decided_by: proposal.decider,
    decision_reason: proposal.decisionReason,
    problem: proposal.problemDetail,
    has_answer: proposal.hasAnswer,
  }
}
