import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { useDraft } from '../../parts/draft.ts'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { AccountFiles } from './account-files.tsx'
import { AccountMovements } from './account-movements.tsx'
import { AccountOverview } from './account-overview.tsx'
import classes from './bank-account.module.css'
import { bankAccountWords as says } from './bank-account-words.ts'
import { ConfirmAccount } from './confirm-account.tsx'

const views = ['overview', 'movements', 'files'] as const

/** One bank account: its terms and feed, what moved on it, and the files that came for it. */
export default function BankAccount() {
  const { name = '' }: { name?: string } = useParams({ strict: false })
  const me = useMe()
  const navigate = useNavigate()
  const { filters } = useFilters()
  const [isConfirming, setConfirming] = useDraft('confirm', false)
  const found = useQuery({
    queryKey: ['bank-account', name],
    queryFn: ({ signal }) => ask(api.bankAccount, { params: { name }, signal }),
    refetchInterval: 15_000,
  })
  const account = found.data
  if (!account) {
    return (
      <>
        <PageHead title={name} />
        {found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={320} />}
      </>
    )
  }
  const view = views.find((each) => each === filters.view) ?? 'overview'
  const maker = account.changed_by ?? account.created_by
  const whyNotConfirm =
    whyNot(me, 'manage_bank_accounts') ?? (maker === me.user.email ? says.confirm.isOwn : undefined)
  return (
    <>
      <PageHead
        title={account.name}
        says={says.says(account.bank, account.account_no, account.account_name)}
      >
        {account.state === 'unconfirmed' && (
          <ActButton size="sm" whyNot={whyNotConfirm} onClick={() => setConfirming(true)}>
            {says.confirm.button}
          </ActButton>
        )}
        <ActButton
          size="sm"
          whyNot={whyNot(me, 'import_statements')}
          onClick={() => void navigate({ to: pages.importBankFile(name) })}
        >
          {says.import}
        </ActButton>
        <ActButton
          size="sm"
          whyNot={whyNot(me, 'decide_payments')}
          onClick={() => void navigate({ to: pages.recordPayment(name) })}
        >
          {says.record}
        </ActButton>
        <ActButton
          size="sm"
          whyNot={whyNot(me, 'manage_bank_accounts')}
          onClick={() => void navigate({ to: pages.editBankAccount(name) })}
        >
          {says.change}
        </ActButton>
      </PageHead>
      {account.state === 'unconfirmed' && (
        <div className={classes.waits}>
          <strong>{says.waits.title}</strong>
          <p>{says.waits.says(maker)}</p>
        </div>
      )}
      <nav className={classes.views} aria-label={says.viewsLabel}>
        {views.map((each) => (
          <Link
            key={each}
            to={pages.bankAccount(name)}
            search={each === 'overview' ? {} : { view: each }}
            activeOptions={{ exact: true, includeSearch: true }}
            aria-current={each === view ? 'page' : undefined}
          >
            {says.views[each]}
          </Link>
        ))}
      </nav>
      {view === 'overview' && <AccountOverview account={account} />}
      {view === 'movements' && <AccountMovements name={name} />}
      {view === 'files' && <AccountFiles name={name} currency={account.currency} />}
      {isConfirming && account.state === 'unconfirmed' && (
        <ConfirmAccount account={account} close={() => setConfirming(false)} />
      )}
    </>
  )
}
