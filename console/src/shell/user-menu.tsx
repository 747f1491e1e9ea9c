import {
  Avatar,
  Menu,
  NativeSelect,
  SegmentedControl,
  UnstyledButton,
  useMantineColorScheme,
} from '@mantine/core'
import { IconDeviceLaptop, IconLogout } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ask } from '../api.ts'
import { forgetAllDrafts } from '../parts/draft.ts'
import { chooseOwnLanguage, LanguageSelect } from '../parts/language-select.tsx'
import { zones } from '../parts/zone-choice.ts'
import { api, pages } from '../paths.ts'
import type { Me } from '../session.tsx'
import { words } from '../words.ts'
import classes from './shell.module.css'

export function UserMenu(props: { me: Me; zone: string; chooseZone: (zone: string) => void }) {
  const { me, zone, chooseZone } = props
  const navigate = useNavigate()
  const queries = useQueryClient()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const signingOut = useMutation({
    mutationFn: () => ask(api.signOut),
    onSettled: async () => {
      await navigate({ to: pages.signIn })
      queries.clear()
      forgetAllDrafts()
    },
  })
  return (
    <Menu position="bottom-end" width={264} closeOnItemClick={false}>
      <Menu.Target>
        <UnstyledButton aria-label={words.user.menu} className={classes.user}>
          <Avatar size={28} color="sluice" radius="xl" variant="filled">
            {me.user.email.slice(0, 1).toUpperCase()}
          </Avatar>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <div className={classes.who}>
          <strong>{me.user.email}</strong>
          <span>{words.roles[me.user.role] ?? me.user.role}</span>
        </div>
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label={words.user.scheme}
          value={colorScheme}
          onChange={(value) => setColorScheme(value as 'light' | 'dark' | 'auto')}
          data={[
            { value: 'light', label: words.user.light },
            { value: 'dark', label: words.user.dark },
            { value: 'auto', label: words.user.system },
          ]}
        />
        <LanguageSelect choose={(language) => void chooseOwnLanguage(me, language)} />
        <NativeSelect
          mt={8}
          label={words.user.zone}
          description={words.user.zoneHint(me.time_zone)}
          value={zone}
          data={[...new Set([me.time_zone, zone, ...zones])]}
          onChange={(event) => chooseZone(event.currentTarget.value)}
        />
        <Menu.Divider />
        <Menu.Item
          closeMenuOnClick
          leftSection={<IconDeviceLaptop size={15} />}
          onClick={() => void navigate({ to: pages.me })}
        >
          {words.user.mine}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLogout size={15} />}
          onClick={() => signingOut.mutate()}
          disabled={signingOut.isPending}
        >
          {words.user.signOut}
        </Menu.Item>
        <div className={classes.version}>
          {words.product} {me.version}
        </div>
      </Menu.Dropdown>
    </Menu>
  )
}
