import Type from 'typebox'
import { absoluteLimitMs, idleLimitMs } from '../../operators/sessions.ts'
import { type OperatorApi, operatorRoute } from './operator-route.ts'

/** The configuration by name, without secrets. */
export type Settings = Record<string, string | number | boolean | string[]>

export function settingsRoute(api: OperatorApi, settings: Settings): void {
  operatorRoute(api, {
    method: 'GET',
    url: '/settings',
    summary: 'How this process is set up, without its secrets',
    tag: 'Settings',
    permission: 'view',
    agents: 'none',
    schema: {
      response: Type.Object({
        settings: Type.Record(Type.String(), Type.Unknown()),
        session: Type.Object({
          idle_limit_s: Type.Integer(),
          absolute_limit_s: Type.Integer(),
        }),
      }),
    },
    handler: async () => ({
      settings,
      session: { idle_limit_s: idleLimitMs / 1000, absolute_limit_s: absoluteLimitMs / 1000 },
    }),
  })
}
