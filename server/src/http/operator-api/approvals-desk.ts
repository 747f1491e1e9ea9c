import { type ActionName, actions } from '../../approvals/actions.ts'
import {
  type ApprovalFacts,
  type AskedAction,
  hasRuleOfTwo,
  needsTwoPeople,
  readApprovalFacts,
} from '../../approvals/approval-rules.ts'
import { countApprovers, waitingWords } from '../../approvals/approvers.ts'
import {
  endProposal,
  expire,
  hasSameCredentials,
  takeRun,
  withdrawCancelled,
} from '../../approvals/decide-proposal.ts'
import {
  findOverdue,
  findPayoutsThatEnded,
  findProposal,
  findSame,
  findUnfinished,
  type Proposal,
  proposalValidMs,
  propose,
} from '../../approvals/proposal.ts'
import { timeToPass } from '../../db/database-time.ts'
import { inTransaction } from '../../db/in-transaction.ts'
import type { Pool } from '../../db/pool.ts'
import { jsonText } from '../../lib/json-text.ts'
import { Problem } from '../../lib/problem.ts'
import type { SecretKeys } from '../../lib/secret-box.ts'
import { nobody } from '../../operators/credentials.ts'
import { may, type Operator, type Permission } from '../../operators/operator.ts'
import { forgetAnswers, sealAnswer } from '../../operators/proposal-answers.ts'
import { findUser } from '../../operators/user.ts'
import { payOutRoute } from '../../payouts/payout-approval.ts'

/** What an action is about and what it would change, as it is shown to who approves. */
export interface ActionView {
  subject: { kind: string; id: string }
  agentId: bigint | null
  amount?: { minor: bigint; currency: string } | null
  /** What it consists of, if it is several: each is held to the rules by itself too. */
  parts?: readonly AskedAction[]
  /** Only what the action changes: if it differs when the action runs, the action is refused. */
  before: unknown
  after: unknown
}

/** What is shown beside a change, as it is at the moment and as it would be then. */
export interface Beside {
  before: object
  after: object
}

/** A route that two people may have to decide on, as the desk runs it. */
export interface RunnableRoute {
  /** The actions that a request does: if one of them needs two people, it does. */
  actions: (input: Input) => readonly [ActionName, ...ActionName[]]
  permission: Permission
  /**
   * What keeps an interrupted action from happening twice. effect: the handler writes `takeEffect` in its
   * transaction; keyed: the teller takes its command once, by a key in the request or of the proposal; checked:
   * what it is about is no more as it was shown.
   */
  repeats: 'effect' | 'keyed' | 'checked'
  hasSecret: boolean
  /** Whether the keyed command of a request was taken. If it was not, everything must be as it was shown. */
  isDone?: ((operator: Operator, input: Input) => Promise<boolean>) | undefined
  view: (operator: Operator, input: Input) => Promise<ActionView>
  /** What helps to decide and may change until then: it is no part of what is approved. */
  beside?: ((operator: Operator, input: Input) => Promise<Beside | null>) | undefined
  run: (operator: Operator, input: Input) => Promise<unknown>
  /** The body as it is kept until somebody decides: a secret in it is sealed. */
  kept?: ((body: object) => object) | undefined
  /** What of several was refused while the others were done, in words; null if nothing was. */
  refusedOf?: ((answer: unknown) => string | null) | undefined
}

export interface Input {
  params: unknown
  body: unknown
}

/** How long an action belongs to the process that began it. */
const leaseMs = 60_000
/** How long after its approval an action may begin. */
const approvalValidMs = 3_600_000
/** How long an answer waits for its proposer. */
const answersKeptMs = 72 * 3_600_000
const doubt = 'It was interrupted and may have been done: look at its history.'
const pollMs = 2_000

/** Makes proposals of requests, and runs them when they are approved. */
export class ApprovalsDesk {
  private readonly routes = new Map<string, RunnableRoute>()
  private readonly pool: Pool
  private readonly secretKeys: SecretKeys
  private readonly now: () => Date
  private readonly mode: 'sandbox' | 'live'
  readonly onError: (error: unknown) => void
  private readonly underway = new Map<string, Promise<void>>()
  private timer: NodeJS.Timeout | undefined

  constructor(options: {
    pool: Pool
    secretKeys: SecretKeys
    now: () => Date
    mode: 'sandbox' | 'live'
    onError: (error: unknown) => void
  }) {
    this.pool = options.pool
    this.secretKeys = options.secretKeys
    this.now = options.now
    this.mode = options.mode
    this.onError = options.onError
  }

  add(route: string, runnable: RunnableRoute): void {
    this.routes.set(route, runnable)
  }

  /** The routes of every action, for tests that walk them. */
  get all(): ReadonlyMap<string, RunnableRoute> {
    return this.routes
  }

  /** Stores a request as a proposal if two people have to decide on it; undefined if one may. */
  async proposeInstead(
    route: string,
    operator: Operator,
    input: Input,
  ): Promise<{ proposal: string; detail: string } | undefined> {
    const runnable = this.routes.get(route)
    if (!runnable) throw new Error(`${route} was not added`)
    const { permission } = runnable
    const names = runnable.actions(input)
    // In the sandbox one person decides, unless a rule says otherwise: the handler checks everything itself.
    if (this.mode === 'sandbox' && !(await hasRuleOfTwo(this.pool, names))) return undefined
    const view = await runnable.view(operator, input)
    const { agentId, amount = null } = view
    const facts = await readApprovalFacts(this.pool, this.now())
    // Anyone with a shell may have typed a command.
    const isCommand = operator.userId === nobody
    const { parts = [], ...shown } = view
    const known = { ...facts, isCommand }
    const judged = strictest([
      this.judge(known, names, agentId, amount),
      ...parts.map((part) => needsTwoPeople(known, this.mode, part)),
    ])
    if (!judged.needsTwo) return undefined
    const adminOnly = judged.adminOnly || isCommand
    const person = isCommand
      ? { ...operator, userId: null, sessionId: undefined, ip: null }
      : operator
    const [action] = names
    const { code: _code, ...body } = Object(input.body)
    const at = this.now()
    const reason = typeof body.reason === 'string' ? body.reason : null
    const asked = {
      ...shown,
      amount,
      action,
      route,
      input: { params: input.params, body: runnable.kept?.(body) ?? body },
      permission,
      adminOnly,
      reason,
    }
    // A second click proposes nothing more.
    const proposal =
      (await findSame(this.pool, asked, operator.userId, at)) ??
      (await inTransaction(this.pool, (tx) => propose(tx, asked, person, at)))
    const { userId: proposedBy } = operator
    const approvers = await countApprovers(this.pool, {
      permission,
      adminOnly,
      agentId,
      proposedBy,
    })
    const expiresAt = new Date(at.getTime() + proposalValidMs)
    return { proposal, detail: `Proposed. ${waitingWords(approvers, expiresAt)}` }
  }

  /**
   * Runs an approved proposal's action and writes what became of it. An error that is not a refusal leaves it
   * approved: it is run again later.
   */
  run(proposal: Proposal): Promise<void> {
    const { proposalId } = proposal
    const before = this.underway.get(proposalId)
    if (before !== undefined) return before
    const running = this.runOnce(proposal).finally(() => this.underway.delete(proposalId))
    this.underway.set(proposalId, running)
    return running
  }

  private async runOnce(proposal: Proposal): Promise<void> {
    const { proposalId } = proposal
    const turn = await takeRun(this.pool, proposalId, timeToPass(this.now), leaseMs)
    if (turn === undefined) return
    const again = turn > 1
    try {
      // A payout is handed over by who sees the decision; there is nothing else to do.
      const hasToAct = !proposal.hasEffect && proposal.route !== payOutRoute
      const refused = hasToAct ? await this.act(proposal, again) : null
      await endProposal(this.pool, proposalId, null, this.now(), refused)
    } catch (error) {
      const isRefusal = error instanceof Problem && error.status < 500
      if (!isRefusal && !hadEffect(error)) throw error
      const { code, message } = isRefusal ? error : { code: 'internal' as const, message: '' }
      const isDoubtful = again && this.routes.get(proposal.route)?.repeats !== 'effect'
      const detail = isDoubtful ? `${doubt} ${message}` : message
      await endProposal(this.pool, proposalId, isRefusal ? { code, detail } : null, this.now())
    }
  }

  /** Does it, and says what of it was refused. */
  private async act(proposal: Proposal, again: boolean): Promise<string | null> {
    const runnable = this.routes.get(proposal.route)
    if (!runnable) throw new Problem('not_found', 'This service has no such action any more.')
    if (this.now().getTime() - (proposal.decidedAt?.getTime() ?? 0) > approvalValidMs) {
      throw new Problem('proposal_expired', 'It could not be done for an hour. Propose it again.')
    }
    const operator = await this.actorOf(proposal, runnable.permission, again)
    const input: Input = JSON.parse(proposal.input)
    // What was interrupted may have been done, and then it is what has changed.
    const mayBeDone = again && runnable.repeats === 'keyed'
    if (!mayBeDone || (await runnable.isDone?.(operator, input)) === false) {
      const { before, after } = await runnable.view(operator, input)
      if (textOf(before) !== proposal.before || textOf(after) !== proposal.after) {
        throw new Problem(
          'changed_meanwhile',
          'What it is about has changed since it was proposed. Propose it again.',
        )
      }
    }
    const answer = await runnable.run(operator, input)
    return runnable.refusedOf?.(answer) ?? null
  }

  /** What is shown beside an open proposal; null if there is nothing, or it cannot be done any more. */
  async besideOf(proposal: Proposal, operator: Operator): Promise<Beside | null> {
    const runnable = this.routes.get(proposal.route)
    const input: Input = JSON.parse(proposal.input)
    return (await runnable?.beside?.(operator, input).catch(() => null)) ?? null
  }

  /** What the rules say of a request that does these actions: the strictest of them counts. */
  private judge(
    facts: ApprovalFacts,
    names: readonly ActionName[],
    agentId: bigint | null,
    amount: AskedAction['amount'],
  ): { needsTwo: boolean; adminOnly: boolean } {
    const judged = names.map((action) =>
      needsTwoPeople(facts, this.mode, { action, agentId, amount }),
    )
    return strictest(judged)
  }

  /** Whether only an admin may approve, by what the rules said then or say now. */
  isForAdmins(proposal: Proposal, facts: ApprovalFacts): boolean {
    if (proposal.adminOnly) return true
    const { amountMinor: minor, currency } = proposal
    const amount = minor === null || currency === null ? null : { minor, currency }
    // A payout has no route: the service proposes it itself.
    const names: readonly ActionName[] =
      proposal.route === payOutRoute
        ? ['pay_out']
        : (this.routes.get(proposal.route)?.actions(JSON.parse(proposal.input)) ?? [])
    const agentId = proposal.agentId === 0n ? null : proposal.agentId
    return this.judge(facts, names, agentId, amount).adminOnly
  }

  /**
   * Whose action it is: the proposer's, with the rights that they have now. What the command line proposed is
   * done by who approved it.
   */
  private async actorOf(
    proposal: Proposal,
    permission: Permission,
    again: boolean,
  ): Promise<Operator> {
    const byCommandLine = proposal.proposedBy === 0n
    if (!(await hasSameCredentials(this.pool, proposal))) {
      throw new Problem('not_permitted', 'The proposer was reset since then.')
    }
    const user = await findUser(
      this.pool,
      byCommandLine ? (proposal.decidedBy ?? 0n) : proposal.proposedBy,
    )
    if (!user || user.disabledAt || !may(user, permission)) {
      throw new Problem('not_permitted', 'Who proposed it may not do this any more.')
    }
    const { userId, email, role, agentId } = user
    return {
      userId,
      email,
      role,
      agentId,
      sessionId: (byCommandLine ? proposal.deciderSession : proposal.sessionId) ?? '',
      ip: (byCommandLine ? proposal.deciderIp : proposal.ip) ?? '',
      proposal: {
        id: proposal.proposalId,
        again,
        byCommandLine,
        seal: (answer) => sealAnswer(this.secretKeys, proposal.proposalId, answer),
      },
    }
  }

  /** Finishes what was interrupted, and ends what nobody decided on in time. */
  async poll(): Promise<void> {
    const now = this.now()
    const forEach = async (
      found: Promise<Proposal[]>,
      act: (each: Proposal) => Promise<unknown>,
    ) => {
      for (const proposal of await found) await act(proposal).catch(this.onError)
    }
    const steps = [
      () => forEach(findOverdue(this.pool, now), (each) => expire(this.pool, each, now)),
      () =>
        forEach(findPayoutsThatEnded(this.pool, now), (each) =>
          withdrawCancelled(this.pool, each, now),
        ),
      () =>
        forEach(findUnfinished(this.pool, new Date(now.getTime() - leaseMs)), (each) =>
          this.run(each),
        ),
      () => forgetAnswers(this.pool, new Date(now.getTime() - answersKeptMs)),
    ]
    // One that fails keeps none of the others from running.
    for (const step of steps) await step().catch(this.onError)
  }

  /** Polls until it is stopped. */
  start(): void {
    const round = async () => {
      await this.poll().catch(this.onError)
      if (this.timer) this.timer = setTimeout(round, pollMs)
    }
    this.timer = setTimeout(round, pollMs)
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    await Promise.allSettled(this.underway.values())
  }

  /** A proposal that this operator may see. */
  async named(operator: Operator, proposalId: string): Promise<Proposal> {
    const isId = /^[0-9a-f]{32}$/.test(proposalId)
    const proposal = isId ? await findProposal(this.pool, proposalId) : undefined
    if (!proposal || !seesProposal(operator, proposal))
      throw new Problem('not_found', 'There is no such proposal.')
    return proposal
  }
}

function textOf(shown: unknown): string | null {
  return shown === null || shown === undefined ? null : jsonText(shown)
}

function strictest(judged: readonly { needsTwo: boolean; adminOnly: boolean }[]) {
  return {
    needsTwo: judged.some((each) => each.needsTwo),
    adminOnly: judged.some((each) => each.needsTwo && each.adminOnly),
  }
}

/** Whether an earlier run had its effect already. */
function hadEffect(error: unknown): boolean {
  return (
    error instanceof Error &&
    'constraint' in error &&
    String(error.constraint).startsWith('proposal_effects_pkey')
  )
}

/** An agent's users see what concerns their agent, if it is something that they may do themselves. */
export function seesProposal(operator: Operator, proposal: Proposal): boolean {
  if (operator.agentId === null) return true
  return operator.agentId === proposal.agentId && may(operator, proposal.permission)
}

export function titleOf(action: string): string {
  return Object.hasOwn(actions, action) ? actions[action as ActionName].title : action
}
