import { Skeleton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { ask } from '../../api.ts'
import { ActButton } from '../../parts/act-button.tsx'
import { AsOf } from '../../parts/as-of.tsx'
import { CopyId } from '../../parts/copy-id.tsx'
import { useDraft } from '../../parts/draft.ts'
import { Figure, Figures } from '../../parts/figures.tsx'
import { Money } from '../../parts/money.tsx'
import { PageHead } from '../../parts/page-head.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Toned } from '../../parts/state-badge.tsx'
import { useFilters } from '../../parts/url-filters.ts'
import { When } from '../../parts/when.tsx'
import { api } from '../../paths.ts'
import { whyNot } from '../../permissions.ts'
import { useMe } from '../../session.tsx'
import { AdjustDialog } from './adjust-dialog.tsx'
import { Journal } from './journal.tsx'
import { StatementMenu } from './statement-menu.tsx'
import type { WalletDetail } from './wallet-detail.ts'
import { walletWords as says } from './wallet-words.ts'

export default function Wallet() {
  const { appId = '' }: { appId?: string } = useParams({ strict: false })
  const me = useMe()
  const { filters } = useFilters()
  // The reference is generated once and survives a reload, so that the money moves only once.
  const [adjusting, setAdjusting] = useDraft<string | null>('adjust', null)
  const query = filters.as_of === undefined ? {} : { as_of: filters.as_of }
  const found = useQuery({
    queryKey: ['wallet', appId, query],
    queryFn: ({ signal }) => ask(api.wallet, { params: { app_id: appId }, query, signal }),
    placeholderData: keepPreviousData,
    refetchInterval: filters.as_of === undefined ? 5000 : false,
  })
  if (!found.data) {
    return (
      <>
        <PageHead title={says.title} />
        {found.isError ? <ProblemPanel error={found.error} /> : <Skeleton height={320} />}
      </>
    )
  }
  const { data: wallet } = found
  return (
    <>
      <PageHead title={says.heading(wallet.agent_name)} says={<CopyId id={wallet.app_id} />}>
        <AsOf />
        <StatementMenu appId={appId} />
        {me.user.role !== 'agent' && (
          <ActButton
            size="sm"
            whyNot={whyNot(me, 'adjust_wallets')}
            onClick={() => setAdjusting(`console-${crypto.randomUUID().slice(0, 8)}`)}
          >
            {says.adjust.open}
          </ActButton>
        )}
      </PageHead>
      <Balances wallet={wallet} />
      <Journal wallet={wallet} />
      {adjusting !== null && (
        <AdjustDialog wallet={wallet} newRef={adjusting} close={() => setAdjusting(null)} />
      )}
    </>
  )
}

function Balances({ wallet }: { wallet: WalletDetail }) {
  const { currency, proof } = wallet
  const isAgents = useMe().user.role === 'agent'
  return (
    <Figures columns={5}>
      <Figure label={says.balance}>
        <Money amount={wallet.balance} currency={currency} />
      </Figure>
      <Figure label={says.held}>
        <Money amount={wallet.held} currency={currency} />
      </Figure>
      <Figure label={says.reserve}>
        <Money amount={wallet.reserve} currency={currency} />
      </Figure>
      <Figure label={isAgents ? says.feesPaid : says.fees} note={says.feesNote}>
        <Money amount={wallet.fees} currency={currency} />
      </Figure>
      <Figure label={says.proof} note={<When at={proof.checked_at} ago />}>
        <Toned tone={proof.finding === null ? 'good' : 'bad'}>
          {proof.finding ?? says.proved(proof.proved_seq, wallet.seq)}
        </Toned>
      </Figure>
    </Figures>
  )
}
