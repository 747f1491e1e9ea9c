import Type from 'typebox'
import { Problem } from '../../lib/problem.ts'
import { setCookie } from './console-cookies.ts'
import type { LookAround } from './look-around.ts'
import type { OperatorDeps } from './operator-deps.ts'
import { type OperatorApi, openRoute } from './operator-route.ts'
import { strict } from './schemas/shapes.ts'
import { Me } from './schemas/users.ts'
import { meOf } from './sign-in.ts'

/** `POST /look-around`: exchanges the link of a demo for a session. */
export function lookAroundRoute(
  api: OperatorApi,
  deps: OperatorDeps,
  lookAround: LookAround,
): void {
  const { publicUrl } = deps.desk
  openRoute(api, {
    method: 'POST',
    url: '/look-around',
    summary: 'Look around in a sandbox on this machine, with a link for one use; changes nothing',
    tag: 'Sign-in',
    schema: {
      body: Type.Object(
        {
          token: Type.String({
            pattern: '^[A-Za-z0-9_-]{43}$',
            description: 'what the link has after #',
          }),
        },
        strict,
      ),
      response: Me,
    },
    handler: async ({ request, reply, body }) => {
      const session = lookAround.open(body.token, request)
      const operator = session && lookAround.operatorOf(session, request)
      if (!operator) throw new Problem('not_found', 'This link has been used or has ended.')
      setCookie(reply, publicUrl(), 'session', session)
      return meOf(deps, operator)
    },
  })
}
