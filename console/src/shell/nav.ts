import {
  IconArrowsDiff,
  IconBell,
  IconBook2,
  IconBuildingBank,
  IconCalendarCheck,
  IconChartBar,
  IconClipboardList,
  IconDeviceTv,
  IconFileExport,
  IconFlask,
  IconGauge,
  IconGavel,
  IconHandStop,
  IconHistory,
  IconHome,
  IconInbox,
  IconKey,
  IconPigMoney,
  IconPlugConnected,
  IconReport,
  IconSend,
  IconSettings,
  IconSignature,
  IconTerminal2,
  IconUserCheck,
  IconUsers,
  IconUsersGroup,
  IconWallet,
  type TablerIcon,
} from '@tabler/icons-react'
import { pages } from '../paths.ts'
import { may, type Permission } from '../permissions.ts'
import type { Me } from '../session.tsx'
import { words } from '../words.ts'

export interface Place {
  to: string
  label: string
  icon: TablerIcon
  group: string
}

type Row = Omit<Place, 'to'> & {
  to: string | ((me: Me) => string)
  permission: Permission
  /** Who sees the page: operators, an agent's own users, or both. */
  who: 'operators' | 'agents' | 'all'
  sandboxOnly?: boolean
}

const { nav } = words
const own = (me: Me) => me.user.app_id ?? ''

/** Every page, and who sees it in the menu. */
const table: Row[] = [
  row(pages.home, nav.home, IconHome, nav.work, 'view', 'all'),
  row(pages.insights, nav.insights, IconChartBar, nav.work, 'view', 'all'),
  row(pages.orders, nav.orders, IconClipboardList, nav.work, 'view', 'all'),
  row(pages.callbacks, nav.callbacks, IconSend, nav.work, 'view', 'all'),
  row(pages.queue, nav.queue, IconInbox, nav.work, 'view', 'operators'),
  row(pages.payments, nav.payments, IconGavel, nav.work, 'view', 'operators'),
  row(pages.approvals, nav.approvals, IconUserCheck, nav.work, 'view', 'all'),
  row(pages.openItems, nav.openItems, IconArrowsDiff, nav.work, 'view', 'operators'),
  row(pages.wallets, nav.wallets, IconWallet, nav.work, 'view', 'operators'),
  row(pages.books, nav.books, IconBook2, nav.work, 'view', 'operators'),
  row(pages.payoutFiles, nav.payoutFiles, IconFileExport, nav.work, 'view', 'operators'),
  row(pages.reconciliation, nav.reconciliation, IconCalendarCheck, nav.work, 'view', 'operators'),
  row((me) => pages.wallet(own(me)), nav.wallet, IconWallet, nav.work, 'view', 'agents'),
  row(pages.agents, nav.agents, IconUsersGroup, nav.setUp, 'view', 'operators'),
  row((me) => pages.agent(own(me)), nav.account, IconKey, nav.setUp, 'view', 'agents'),
  row(pages.providers, nav.providers, IconBuildingBank, nav.setUp, 'view', 'operators'),
  row(
    pages.connectors,
    nav.connectors,
    IconPlugConnected,
    nav.setUp,
    'manage_providers',
    'operators',
  ),
  row(pages.bankAccounts, nav.bankAccounts, IconPigMoney, nav.setUp, 'view', 'operators'),
  row(pages.users, nav.users, IconUsers, nav.setUp, 'manage_users', 'operators'),
  row(pages.rules, nav.rules, IconHandStop, nav.setUp, 'view', 'operators'),
  row(pages.limits, nav.limits, IconGauge, nav.setUp, 'view', 'operators'),
  row(pages.alerts, nav.alerts, IconBell, nav.setUp, 'view', 'all'),
  row(pages.reports, nav.reports, IconReport, nav.setUp, 'view_audit', 'operators'),
  row(pages.audit, nav.audit, IconHistory, nav.setUp, 'view_audit', 'operators'),
  row(
    (me) => pages.agentAudit(own(me)),
    nav.agentAudit,
    IconHistory,
    nav.setUp,
    'view_own_audit',
    'agents',
  ),
  row(pages.settings, nav.settings, IconSettings, nav.setUp, 'view', 'operators'),
  row(pages.wall, nav.wall, IconDeviceTv, nav.tools, 'view', 'operators'),
  row(pages.apiLog, nav.apiLog, IconTerminal2, nav.tools, 'view', 'all'),
  row(pages.debugger, nav.debugger, IconSignature, nav.tools, 'view', 'all'),
  {
    ...row(pages.testOrders, nav.testOrders, IconFlask, nav.tools, 'view', 'all'),
    sandboxOnly: true,
  },
]

function row(
  to: Row['to'],
  label: string,
  icon: TablerIcon,
  group: string,
  permission: Permission,
  who: Row['who'],
): Row {
  return { to, label, icon, group, permission, who }
}

export function placesFor(me: Me): Place[] {
  const kind = me.user.role === 'agent' ? 'agents' : 'operators'
  return table
    .filter((each) => each.who === 'all' || each.who === kind)
    .filter((each) => may(me, each.permission))
    .filter((each) => !each.sandboxOnly || me.mode === 'sandbox')
    .map(({ to, label, icon, group }) => ({
      to: typeof to === 'string' ? to : to(me),
      label,
      icon,
      group,
    }))
}
