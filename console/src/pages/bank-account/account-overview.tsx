import { Stack } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type Answer, ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { ActDialog } from '../../parts/act-dialog.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { type Fact, Facts } from '../../parts/facts.tsx'
import { Money } from '../../parts/money.tsx'
import { PageLink } from '../../parts/page-link.tsx'
import { Panel } from '../../parts/panel.tsx'
import { ShownOnce } from '../../parts/secret-once.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { When } from '../../parts/when.tsx'
import { api, pages } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { formWords } from '../bank-account-form/form-words.ts'
import { bankAccountsWords } from '../bank-accounts/bank-accounts-words.ts'
import { AccountCalendar } from '../reconciliation/account-calendar.tsx'
import classes from './bank-account.module.css'
import { bankAccountWords as says } from './bank-account-words.ts'

type Account = Answer<typeof api.bankAccount>

const { facts } = says

/** The terms of the account, its feed, and the month as the bank and the books have it. */
export function AccountOverview({ account }: { account: Account }) {
  const me = useMe()
  return (
    <div className={classes.columns}>
      <Panel title={says.terms}>
        <Facts facts={termFacts(account)} />
      </Panel>
      <Stack gap="md">
        <Reports account={account} />
        <Panel title={says.reconcile}>
          <AccountCalendar account={account.name} month={me.now.slice(0, 7)} />
        </Panel>
      </Stack>
    </div>
  )
}

function termFacts(account: Account): (Fact | false | null)[] {
  const { places, test_payment: test, currency } = account
  const limit = (text: string) => <Money amount={Number(text)} currency={currency} />
  return [
    [facts.state, <StateBadge key="s" state={account.state} />],
    [facts.currency, currency],
    account.bank !== '' && [facts.bank, account.bank],
    [facts.number, <CopyId key="n" id={account.account_no} />],
    account.former_numbers.length > 0 && [facts.former, account.former_numbers.join(', ')],
    [facts.holder, account.account_name],
    account.city !== null && [facts.city, account.city],
    account.address !== null && [facts.address, account.address],
    [facts.qr, formWords.qrKinds[account.qr_kind]],
    account.qr_value !== null && [formWords.fields.qr_value, account.qr_value],
    [facts.match, formWords.matches[account.match]],
    account.match !== 'amount' && [formWords.fields.code_form, account.code_form],
    places !== null && [
      facts.places,
      bankAccountsWords.places(places.all - places.used, places.all),
    ],
    [facts.hold, facts.holdHours(account.hold_hours)],
    [facts.dayLimit, account.day_limit === null ? facts.any : limit(account.day_limit)],
    [facts.fileLimit, limit(account.file_limit)],
    Number(account.expected_deduction) > 0 && [facts.deduction, limit(account.expected_deduction)],
    ...payoutFacts(account, limit),
    ...sftpFacts(account),
    [facts.zone, account.zone],
    account.csv_profile !== null && [facts.csv, facts.hasCsv],
    account.encoding !== null && [facts.encoding, account.encoding],
    account.own_accounts.length > 0 && [facts.own, account.own_accounts.join(', ')],
    [facts.created, <Who key="c" at={account.created_at} by={account.created_by} />],
    account.changed_by !== null && [
      facts.changed,
      <Who key="h" at={account.changed_at} by={account.changed_by} />,
    ],
    account.confirmed_by !== null && [
      facts.confirmed,
      <Who key="f" at={account.confirmed_at} by={account.confirmed_by} />,
    ],
    test !== null && [
      facts.test,
      <span key="t">
        <Money amount={test.amount} currency={currency} />{' '}
        <Who at={test.paid_at} by={test.paid_by} />
      </span>,
    ],
  ]
}

/** How it pays withdrawals. */
function payoutFacts(
  account: Account,
  limit: (text: string) => React.ReactNode,
): (Fact | false | null)[] {
  const { payout, payout_file_limit: file, payout_day_limit: day } = account
  const how = formWords.payouts[payout]
  if (payout === 'none') return [[facts.payout, how]]
  return [
    [
      facts.payout,
      <PageLink key="p" to={pages.payoutFiles} search={{ account: account.name }}>
        {how}
      </PageLink>,
    ],
    account.payout_format !== null && [facts.payoutFormat, account.payout_format],
    [facts.payoutCharacters, formWords.payoutCharacters[account.payout_characters]],
    account.payout_cutoffs.length > 0 && [facts.payoutCutoffs, account.payout_cutoffs.join(', ')],
    account.payout_holidays.length > 0 && [
      facts.payoutHolidays,
      account.payout_holidays.join(', '),
    ],
    [facts.payoutFileLimit, file === null ? facts.any : limit(file)],
    [facts.payoutDayLimit, day === null ? facts.any : limit(day)],
    [facts.payoutTrustsPaid, account.payout_trusts_paid ? facts.trustsPaid : facts.trustsDebit],
    account.payout_draft_before !== null && [
      facts.payoutDraftBefore,
      facts.minutes(account.payout_draft_before),
    ],
  ]
}

/** The bank's server for files, and how the connection to it is. */
function sftpFacts(account: Account): (Fact | false | null)[] {
  const { sftp_host: host, sftp_state: state } = account
  if (host === null) return []
  return [
    [facts.sftp, `${account.sftp_user}@${host}:${account.sftp_port}`],
    [facts.sftpHostKey, account.sftp_host_key],
    account.sftp_put_folder !== null && [facts.sftpPut, account.sftp_put_folder],
    account.sftp_get_folder !== null && [facts.sftpGet, account.sftp_get_folder],
    state !== null && [
      facts.sftpState,
      <span key="s" role={state.fault === null ? undefined : 'alert'}>
        {state.fault ?? facts.sftpWorks} <When at={state.looked_at} />
      </span>,
    ],
  ]
}

function Who({ at, by }: { at: string | null; by: string }) {
  return (
    <>
      <When at={at} /> {facts.by(by)}
    </>
  )
}

function Reports({ account }: { account: Account }) {
  const me = useMe()
  const queries = useQueryClient()
  const [isAsked, setAsked] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  const whyDisabled =
    whyNot(me, 'manage_bank_accounts') ?? (account.feed === 'none' ? says.rotate.noFeed : undefined)
  return (
    <Panel
      title={says.reports}
      tools={
        <ActButton whyNot={whyDisabled} onClick={() => setAsked(true)}>
          {says.rotate.button}
        </ActButton>
      }
    >
      <Facts
        facts={[
          [facts.feed, formWords.feeds[account.feed]],
          account.feed === 'token' && [
            facts.tokenLimit,
            <Money key="t" amount={Number(account.token_limit)} currency={account.currency} />,
          ],
          account.feed === 'token' && [
            facts.tokenDayLimit,
            <Money key="d" amount={Number(account.token_day_limit)} currency={account.currency} />,
          ],
          account.feed_profile !== null && [facts.feedProfile, facts.hasCsv],
          account.feed_url !== null && [facts.feedUrl, <CopyId key="u" id={account.feed_url} />],
          [facts.lastReport, <When key="r" at={account.last_report_at} ago />],
          [facts.expected, account.expected],
        ]}
      />
      {isAsked && (
        <ActDialog
          draft="rotate"
          title={says.rotate.title(account.name)}
          explain={says.rotate.explain}
          confirm={says.rotate.button}
          danger
          needsCode
          close={() => setAsked(false)}
          act={async ({ reason, code }) => {
            const { feed_secret } = await ask(api.newFeedSecret, {
              params: { name: account.name },
              body: { version: account.version, reason, code },
            })
            setSecret(feed_secret)
            await queries.invalidateQueries({ queryKey: ['bank-account', account.name] })
            void queries.invalidateQueries({ queryKey: ['bank-account-changes'] })
          }}
        />
      )}
      {secret !== null && (
        <ShownOnce
          title={formWords.secret}
          says={formWords.secretSays}
          value={secret}
          close={() => setSecret(null)}
        />
      )}
    </Panel>
  )
}
