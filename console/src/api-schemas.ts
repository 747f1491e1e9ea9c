// Written from /console/api/openapi.json by server/test/console/console-schemas.test.ts; run it with -u after a change.

/** What each operation takes and answers. */
export interface Operations {
  'DELETE /console/api/me/sessions/{id}': {
    query: Record<string, never>
    body: undefined
    answer: Record<string, never>
  }
  'GET /console/api/agents': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        app_id: string
        name: string
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** active or suspended */
        status: 'active' | 'suspended'
        /** an http or https URL, or null */
        deposit_callback: string | null
        /** an http or https URL, or null */
        withdraw_callback: string | null
        /** PERCENT%, FIXED or PERCENT%+FIXED */
        deposit_fee: string
        /** PERCENT%, FIXED or PERCENT%+FIXED */
        withdraw_fee: string
        /** PERCENT%/DAYS with at most two decimals, such as 7.5%/90, or none */
        reserve: string
        /** return or keep: the fee of a payout that came back */
        revert_fee: 'return' | 'keep'
        /** review or credit: money late or of another amount */
        late_money: 'review' | 'credit'
        /** off or daily or weekly: when the balance is paid out */
        settle: 'off' | 'daily' | 'weekly'
        /** whole units */
        settle_keep: number
        /** 1 to 200 printable characters */
        settle_to: string | null
        /** one of link, link+qrcode, link+transfer, link+qrcode+transfer */
        method: 'link' | 'link+qrcode' | 'link+transfer' | 'link+qrcode+transfer'
        /** 1 to 2592000 seconds */
        expires_in: number
        /** whole units */
        min_deposit: number
        /** whole units */
        max_deposit: number
        /** whole units */
        min_withdraw: number
        /** whole units */
        max_withdraw: number
        /** 0 to 1000000 requests a second */
        rate_limit: number
        /** a list of addresses or CIDR ranges; empty: every address */
        allow_ip: string[]
        /** a list of addresses or CIDR ranges; empty: every address that is allowed */
        withdraw_ip: string[]
        /** a list of origins such as https://shop.example, or only any for every origin, or empty for none; required for a new agent in live */
        frame_origin: string[]
        /** 1 to 2000 printable characters */
        return_url: string | null
        /** 1 to 500 printable characters */
        support: string | null
        /** when it was made */
        created_at: string
        /** when it was last changed; send it with a change */
        updated_at: string
      }[]
      next: null
    }
  }
  'GET /console/api/agents/{app_id}': {
    query: Record<string, never>
    body: undefined
    answer: {
      app_id: string
      name: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** active or suspended */
      status: 'active' | 'suspended'
      /** an http or https URL, or null */
      deposit_callback: string | null
      /** an http or https URL, or null */
      withdraw_callback: string | null
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      deposit_fee: string
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      withdraw_fee: string
      /** PERCENT%/DAYS with at most two decimals, such as 7.5%/90, or none */
      reserve: string
      /** return or keep: the fee of a payout that came back */
      revert_fee: 'return' | 'keep'
      /** review or credit: money late or of another amount */
      late_money: 'review' | 'credit'
      /** off or daily or weekly: when the balance is paid out */
      settle: 'off' | 'daily' | 'weekly'
      /** whole units */
      settle_keep: number
      /** 1 to 200 printable characters */
      settle_to: string | null
      /** one of link, link+qrcode, link+transfer, link+qrcode+transfer */
      method: 'link' | 'link+qrcode' | 'link+transfer' | 'link+qrcode+transfer'
      /** 1 to 2592000 seconds */
      expires_in: number
      /** whole units */
      min_deposit: number
      /** whole units */
      max_deposit: number
      /** whole units */
      min_withdraw: number
      /** whole units */
      max_withdraw: number
      /** 0 to 1000000 requests a second */
      rate_limit: number
      /** a list of addresses or CIDR ranges; empty: every address */
      allow_ip: string[]
      /** a list of addresses or CIDR ranges; empty: every address that is allowed */
      withdraw_ip: string[]
      /** a list of origins such as https://shop.example, or only any for every origin, or empty for none; required for a new agent in live */
      frame_origin: string[]
      /** 1 to 2000 printable characters */
      return_url: string | null
      /** 1 to 500 printable characters */
      support: string | null
      /** when it was made */
      created_at: string
      /** when it was last changed; send it with a change */
      updated_at: string
      /** a colour such as #0a7d4f, or null */
      colour: string | null
      /** a data: URL of a PNG, JPEG or WebP picture of at most 32 KiB, or null */
      logo: string | null
      keys: {
        /** 1 or 2 */
        slot: number
        /** when it was made */
        created_at: string
        /** until when it is valid; null: until it is rotated */
        expires_at: string | null
        /** when it last signed a request */
        last_used_at: string | null
      }[]
    }
  }
  'GET /console/api/agents/{app_id}/audit': {
    query: {
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        id: string
        /** when it was done */
        at: string
        /** when it was asked for, if that was written down before */
        asked_at: string | null
        /** a user or a secret of the agent; null: the operator, whose reasons aren't shown */
        by: {
          email: string
          ip: string | null
        } | null
        action: string
        subject: {
          kind: string
          id: string
        }
        outcome: 'asked' | 'done' | 'refused'
        before: unknown
        after: unknown
        reason: string | null
      }[]
      /** pass as cursor */
      next: string | null
    }
  }
  'GET /console/api/agents/{app_id}/payment-page': {
    query: {
      /** instead of the saved one */
      colour?: string
      /** such as th */
      lang?: string
    }
    body: undefined
    answer: string
  }
  'GET /console/api/agents/{app_id}/secrets': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        id: number
        name: string
        /** what it may do; at least one */
        scopes: ('deposit' | 'withdraw' | 'read' | 'callback')[]
        /** only requests from these addresses or CIDR ranges; empty: every address */
        allow_ip: string[]
        /** when it was made */
        created_at: string
        created_by: string
        /** when it ended */
        revoked_at: string | null
        /** when it was last used */
        last_used_at: string | null
      }[]
    }
  }
  'GET /console/api/alarms': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** which I have not acknowledged */
      data: {
        id: string
        /** when it was raised */
        at: string
        by: string
        words: string
      }[]
    }
  }
  'GET /console/api/alert-rules': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        /** a name, 1 to 60 characters */
        name: string
        /** null: each agent */
        app_id: string | null
        /** what it watches for */
        kind:
          | 'payout_unknown'
          | 'lane_probing'
          | 'callbacks_failing'
          | 'success_below'
          | 'balance_below'
          | 'proof_red'
          | 'breaks'
          | 'nothing_for'
        /** minutes, a number, per cent, or an amount, as the kind has it */
        threshold: string | null
        /** orders that ended in the last so many */
        window_minutes: number | null
        /** of fewer nothing is said */
        min_orders: number | null
        /** deposit or withdraw; null: both */
        order_kind: 'deposit' | 'withdraw' | null
        /** a provider or a bank account; null: each */
        provider: string | null
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        /** such as 08:00 */
        hours_from: string | null
        /** such as 08:00 */
        hours_to: string | null
        /** a time zone such as Asia/Bangkok */
        zone: string | null
        roles: ('admin' | 'operator' | 'viewer' | 'agent')[]
        people: string[]
        /** where they are told; none: wherever each of them wants to be */
        channels: ('mail' | 'webhook' | 'telegram' | 'line' | 'slack')[]
        is_on: boolean
        /** what it watches for, in a sentence */
        words: string
        /** when it was last looked at */
        looked_at: string | null
        /** what it has found wrong and told of */
        wrong: {
          /** an app id, a provider, or all */
          subject: string
          /** since when */
          since: string
          words: string
        }[]
        /** when it was set */
        updated_at: string
        updated_by: string
      }[]
    }
  }
  'GET /console/api/alerts-sent': {
    query: {
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
      /** only in this state */
      state?: 'waiting' | 'held' | 'gathered' | 'sent' | 'given_up'
    }
    body: undefined
    answer: {
      data: {
        alert_id: string
        user_id: string
        email: string
        kind: string
        title: string
        words: string
        /** how many times it happened */
        count: number
        /** one of mail, webhook, telegram, line, slack */
        channel: 'mail' | 'webhook' | 'telegram' | 'line' | 'slack'
        /** what became of it */
        state: 'waiting' | 'held' | 'gathered' | 'sent' | 'given_up'
        attempts: number
        /** what went wrong last */
        error: string | null
        /** when it last happened */
        at: string
        /** when it is sent next */
        due_at: string | null
        /** when it was sent or given up */
        ended_at: string | null
      }[]
      /** pass as cursor; null at the end */
      next: string | null
    }
  }
  'GET /console/api/api-log': {
    query: {
      /** an agent's app id */
      agent?: string
      /** only what was answered with a problem */
      answered?: 'refused'
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** when it was answered */
        at: string
        /** the x-request-id of the answer */
        request_id: string
        method: string
        /** with its query, as it is signed */
        path: string
        status: number
        /** the problem that it was answered with */
        code: string | null
        /** what the answer said of it */
        detail: string | null
        duration_ms: number
        ip: string
        /** with accounts and names masked; null if it was none, or no JSON */
        body: string | null
        /** so many requests before it are not kept */
        left_out: number
      }[]
      /** pass as cursor; null at the end */
      next: string | null
    }
  }
  'GET /console/api/approval-rules': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** send it with a change */
      version: string
      /** whether two people are needed where no rule says */
      by_default: boolean
      /** the most that one code confirms of payments together, where no rule says it */
      together: {
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** an amount of the currency */
        most: string
      }[]
      actions: {
        action: string
        title: string
        has_amount: boolean
      }[]
      /** the most special one counts */
      rules: {
        /** one of actions */
        action: string
        /** an agent's app id */
        app_id: string | null
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        /** whether a second person approves */
        needs_two: boolean
        /** only above this amount, of the currency */
        above: string | null
        /** only an admin approves */
        admin_only: boolean
      }[]
    }
  }
  'GET /console/api/approvals': {
    query: {
      /** open if left out */
      state?: 'open' | 'ended'
      /** only my own */
      by?: 'me'
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        id: string
        /** as in the audit log */
        action: string
        /** the action in words */
        title: string
        subject: {
          kind: string
          id: string
        }
        /** the agent concerned */
        app_id: string | null
        agent_name: string | null
        /** the amount that moves */
        amount: number | null
        currency: string | null
        /** what would change, as it was when it was proposed */
        before: unknown
        /** what it would be */
        after: unknown
        /** of an open one alone: what helps to decide, as it is now and would be then, such as a balance or a picture */
        beside: {
          before: unknown
          after: unknown
        } | null
        reason: string | null
        /** an address, or the command line */
        proposed_by: string
        /** when it was proposed */
        proposed_at: string
        /** until when somebody can approve it */
        expires_at: string
        /** approved: its action is under way, or was interrupted */
        state: 'open' | 'approved' | 'done' | 'refused' | 'declined' | 'withdrawn' | 'expired'
        /** of what is approved; send it to approve */
        digest: string
        /** I proposed it */
        own: boolean
        may_approve: boolean
        /** why I may not approve it */
        why_not: string | null
        decided_by: string | null
        /** when it was decided on */
        decided_at: string | null
        decision_reason: string | null
        problem: {
          code: string
          detail: string
        } | null
        /** a secret waits for me, to be shown once */
        has_answer: boolean
      }[]
      /** pass as cursor; null at the end */
      next: string | null
      /** what waits for a second person on a page of its own; with the first page only */
      others: {
        /** what it is */
        kind: 'bank_account' | 'bank_file' | 'payout_file'
        id: string
        /** the page of the console where it is confirmed or approved */
        at: string
        /** what it is, in words */
        title: string
        /** the bank account */
        account: string
        amount: number | null
        currency: string
        proposed_by: string
        /** since when it waits */
        proposed_at: string
        /** until when somebody can confirm or approve it */
        expires_at: string | null
        may_approve: boolean
        why_not: string | null
      }[]
      /** how many wait that I may approve */
      to_decide: number
    }
  }
  'GET /console/api/approvals/{id}': {
    query: Record<string, never>
    body: undefined
    answer: {
      id: string
      /** as in the audit log */
      action: string
      /** the action in words */
      title: string
      subject: {
        kind: string
        id: string
      }
      /** the agent concerned */
      app_id: string | null
      agent_name: string | null
      /** the amount that moves */
      amount: number | null
      currency: string | null
      /** what would change, as it was when it was proposed */
      before: unknown
      /** what it would be */
      after: unknown
      /** of an open one alone: what helps to decide, as it is now and would be then, such as a balance or a picture */
      beside: {
        before: unknown
        after: unknown
      } | null
      reason: string | null
      /** an address, or the command line */
      proposed_by: string
      /** when it was proposed */
      proposed_at: string
      /** until when somebody can approve it */
      expires_at: string
      /** approved: its action is under way, or was interrupted */
      state: 'open' | 'approved' | 'done' | 'refused' | 'declined' | 'withdrawn' | 'expired'
      /** of what is approved; send it to approve */
      digest: string
      /** I proposed it */
      own: boolean
      may_approve: boolean
      /** why I may not approve it */
      why_not: string | null
      decided_by: string | null
      /** when it was decided on */
      decided_at: string | null
      decision_reason: string | null
      problem: {
        code: string
        detail: string
      } | null
      /** a secret waits for me, to be shown once */
      has_answer: boolean
    }
  }
  'GET /console/api/assignees': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** the addresses of those who may be assigned */
      data: string[]
    }
  }
  'GET /console/api/audit': {
    query: {
      /** a user's email or id, or command-line */
      actor?: string
      /** a kind, or kind:id such as user:3 */
      subject?: string
      /** an action such as sign_in */
      action?:
        | 'abandon_payout_file'
        | 'accept_invitation'
        | 'acknowledge'
        | 'add_connector_secret'
        | 'add_connector_version'
        | 'add_passkey'
        | 'adjust_wallet'
        | 'approve_payout_file'
        | 'approve_proposal'
        | 'assign_open_item'
        | 'assign_payment'
        | 'break_glass'
        | 'cancel_order'
        | 'cancel_payout_file'
        | 'change_addresses'
        | 'change_agent'
        | 'change_alert_rules'
        | 'change_limits'
        | 'change_password'
        | 'change_policy'
        | 'change_reports'
        | 'change_settlement'
        | 'change_user'
        | 'choose_alerts'
        | 'close_event'
        | 'close_open_item'
        | 'confirm_statement'
        | 'create_agent'
        | 'create_bank_account'
        | 'create_test_order'
        | 'create_user'
        | 'credit_payment'
        | 'decline_proposal'
        | 'dismiss_payment'
        | 'draft_payout_file'
        | 'end_other_sessions'
        | 'end_session'
        | 'end_sessions'
        | 'end_view_as_agent'
        | 'enrol_authenticator'
        | 'expire_proposal'
        | 'explain_movement'
        | 'export_books'
        | 'export_orders'
        | 'export_payout_file'
        | 'export_report'
        | 'export_statement'
        | 'forget_devices'
        | 'forget_view'
        | 'give_code'
        | 'import_statement'
        | 'lift_stop'
        | 'make_secret'
        | 'mark_failed_order'
        | 'mark_order'
        | 'mark_paid_order'
        | 'mark_restored'
        | 'new_address'
        | 'note_open_item'
        | 'note_payment'
        | 'pause_callbacks'
        | 'pay_out'
        | 'propose'
        | 'record_payment'
        | 'refund_order'
        | 'reject_payouts'
        | 'release_hold'
        | 'release_payouts'
        | 'remove_alert_channel'
        | 'remove_passkey'
        | 'remove_route'
        | 'replay_callbacks'
        | 'reseal_payout_file'
        | 'resend_alert'
        | 'resend_callback'
        | 'resend_order'
        | 'reset_user'
        | 'resume_agent'
        | 'resume_callbacks'
        | 'return_payment'
        | 'revert_order'
        | 'revoke_secret'
        | 'rotate_feed_secret'
        | 'rotate_key'
        | 'say_backed_up'
        | 'see_answer'
        | 'send_payout_file'
        | 'set_alert_channel'
        | 'set_alert_times'
        | 'set_bank_account'
        | 'set_preferences'
        | 'set_provider'
        | 'set_route'
        | 'set_routes'
        | 'settle_agent'
        | 'share_view'
        | 'sign_in'
        | 'sign_off_day'
        | 'sign_out'
        | 'stop'
        | 'stop_codes'
        | 'suspend_agent'
        | 'take_back_order'
        | 'take_out_payouts'
        | 'take_payout_report'
        | 'use_connector'
        | 'use_route'
        | 'view_as_agent'
        | 'void_order'
        | 'withdraw_proposal'
        | 'write_off'
      /** all: also the row that was written before each action was done */
      steps?: 'all'
      /** an ISO 8601 time with zone; done then or later */
      from?: string
      /** an ISO 8601 time with zone; done before it */
      to?: string
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        id: string
        /** when it was done */
        at: string
        /** when it was asked for, if that was written down before */
        asked_at: string | null
        actor: {
          id: string | null
          /** as it was then; command line; or unknown */
          email: string
          role: string | null
          ip: string | null
          session_id: string | null
        }
        action: string
        subject: {
          kind: string
          id: string
        }
        outcome: 'asked' | 'done' | 'refused'
        before: unknown
        after: unknown
        reason: string | null
      }[]
      /** pass as cursor */
      next: string | null
    }
  }
  'GET /console/api/bank-account-changes': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        name: string
        /** when */
        at: string
        by: string
        /** what, by commas; null: it was added */
        changed: string | null
        confirmed_by: string | null
      }[]
      next: null
    }
  }
  'GET /console/api/bank-account-choices': {
    query: Record<string, never>
    body: undefined
    answer: {
      currencies: {
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** how a bank is named */
        bank_code: 'table' | 'ifsc' | 'bic'
        qr_kinds: {
          /** one of promptpay-mobile, promptpay-id, promptpay-bill, vietqr, pix, paynow, epc, swiss, upi, template, none */
          kind:
            | 'promptpay-mobile'
            | 'promptpay-id'
            | 'promptpay-bill'
            | 'vietqr'
            | 'pix'
            | 'paynow'
            | 'epc'
            | 'swiss'
            | 'upi'
            | 'template'
            | 'none'
          /** what its value is */
          takes: string | null
          /** whether it may go without a value */
          is_optional: boolean
        }[]
      }[]
      feed_profiles: {
        name: string
        /** as JSON */
        profile: string
      }[]
      csv_profiles: {
        name: string
        bank: string
        export: string
        /** a published file of the bank shows this layout */
        checked: boolean
        /** as JSON */
        profile: string
      }[]
      payout_formats: {
        name: string
        title: string
        /** a standard, or the bank has taken a file of it */
        checked: boolean
        currencies: (
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        )[]
      }[]
    }
  }
  'GET /console/api/bank-accounts': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        name: string
        /** unconfirmed: it takes no deposits until another person confirms it */
        state: 'on' | 'draining' | 'off' | 'unconfirmed'
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        bank: string
        account_no: string
        account_name: string
        /** one of promptpay-mobile, promptpay-id, promptpay-bill, vietqr, pix, paynow, epc, swiss, upi, template, none */
        qr_kind:
          | 'promptpay-mobile'
          | 'promptpay-id'
          | 'promptpay-bill'
          | 'vietqr'
          | 'pix'
          | 'paynow'
          | 'epc'
          | 'swiss'
          | 'upi'
          | 'template'
          | 'none'
        /** code, amount or code+amount */
        match: 'code' | 'amount' | 'code+amount'
        /** signed, token or none */
        feed: 'signed' | 'token' | 'none'
        /** deposits whose payment is awaited */
        expected: number
        places: {
          /** unique amounts in use, of the amount most asked for */
          used: number
          all: number
          /** the amount most asked for */
          amount: number
        } | null
        /** when the bank last told something new */
        last_report_at: string | null
        last_day: {
          day: string
          /** green, amber or red */
          state: 'green' | 'amber' | 'red'
        } | null
        /** movements that wait for a second person */
        unconfirmed: number
        /** movements that wait for an explanation */
        unexplained: number
      }[]
      next: null
    }
  }
  'GET /console/api/bank-accounts/{name}': {
    query: Record<string, never>
    body: undefined
    answer: {
      name: string
      /** unconfirmed: it takes no deposits until another person confirms it */
      state: 'on' | 'draining' | 'off' | 'unconfirmed'
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      bank: string
      account_no: string
      account_name: string
      city: string | null
      address: string | null
      /** one of promptpay-mobile, promptpay-id, promptpay-bill, vietqr, pix, paynow, epc, swiss, upi, template, none */
      qr_kind:
        | 'promptpay-mobile'
        | 'promptpay-id'
        | 'promptpay-bill'
        | 'vietqr'
        | 'pix'
        | 'paynow'
        | 'epc'
        | 'swiss'
        | 'upi'
        | 'template'
        | 'none'
      qr_value: string | null
      /** code, amount or code+amount */
      match: 'code' | 'amount' | 'code+amount'
      code_form: string
      surplus_steps: number
      hold_hours: number
      day_limit: string | null
      file_limit: string
      expected_deduction: string
      /** signed, token or none */
      feed: 'signed' | 'token' | 'none'
      token_limit: string
      token_day_limit: string
      feed_profile: string | null
      /** file: withdrawals leave by payment files */
      payout: 'none' | 'file'
      payout_format: string | null
      /** how names are written in its files: latin letters, kept as they are, or as the format usually does */
      payout_characters: 'format' | 'latin' | 'kept'
      payout_cutoffs: string[]
      payout_holidays: string[]
      payout_draft_before: number | null
      payout_file_limit: string | null
      payout_day_limit: string | null
      payout_trusts_paid: boolean
      sftp_host: string | null
      sftp_port: number | null
      sftp_user: string | null
      sftp_host_key: string | null
      sftp_put_folder: string | null
      sftp_get_folder: string | null
      sftp_state: {
        /** why files do not come or go */
        fault: string | null
        /** since when it is so */
        since: string
        /** of the last visit */
        looked_at: string
      } | null
      /** where the bank reports to */
      feed_url: string | null
      zone: string
      csv_profile: string | null
      encoding: string | null
      own_accounts: string[]
      former_numbers: string[]
      /** when it was made */
      created_at: string
      created_by: string
      /** what was changed last, by commas */
      changed: string | null
      /** when */
      changed_at: string | null
      changed_by: string | null
      /** it takes deposits since */
      confirmed_at: string | null
      confirmed_by: string | null
      test_payment: {
        /** what was paid */
        amount: number
        /** when */
        paid_at: string
        paid_by: string
      } | null
      /** version of the account as read */
      version: number
      /** deposits whose payment is awaited */
      expected: number
      places: {
        /** unique amounts in use, of the amount most asked for */
        used: number
        all: number
        /** the amount most asked for */
        amount: number
      } | null
      /** when the bank last told something new */
      last_report_at: string | null
      last_day: {
        day: string
        /** green, amber or red */
        state: 'green' | 'amber' | 'red'
      } | null
      /** movements that wait for a second person */
      unconfirmed: number
      /** movements that wait for an explanation */
      unexplained: number
    }
  }
  'GET /console/api/bank-accounts/{name}/days': {
    query: {
      /** the first day, such as 2026-11-01 */
      from?: string
      /** the last day */
      to?: string
    }
    body: undefined
    answer: {
      account: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** the day it is at the bank */
      today: string
      data: {
        day: string
        /** green, amber or red */
        state: 'green' | 'amber' | 'red'
        /** of the statement that ends on it */
        opening: number | null
        /** of the statement that ends on it */
        closing: number | null
        movements: number
        /** its movements, added up */
        amount: number
        breaks: {
          name: string
          /** what is missing or too much */
          amount: number | null
          movement: string | null
          /** where one waits for a decision */
          payment: string | null
          /** what it means and what to do */
          detail: string
        }[]
        /** send it with a sign-off */
        digest: string
        signed_off: {
          by: string
          /** when */
          at: string
          /** green, amber or red */
          state: 'green' | 'amber' | 'red'
          reason: string | null
          /** its movements are still those that were signed off */
          current: boolean
        } | null
      }[]
      next: null
    }
  }
  'GET /console/api/bank-accounts/{name}/files': {
    query: {
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        file_id: string
        name: string
        size: number
        /** how it came */
        via: 'console' | 'command' | 'folder'
        brought_by: string
        /** when it came */
        received_at: string
        /** why nothing was taken from it */
        refused: string | null
        statements: number
        entries: number
        from_day: string | null
        to_day: string | null
        /** movements that wait for a second person */
        unconfirmed: number
        /** their amounts together, without signs */
        unconfirmed_amount: number
        /** another person has to confirm it, if only for the balances in it */
        waits: boolean
        confirmed_by: string | null
        /** when */
        confirmed_at: string | null
      }[]
      /** pass as cursor; null at the end */
      next: string | null
    }
  }
  'GET /console/api/bank-accounts/{name}/movements': {
    query: {
      /** a day such as 2026-11-01 */
      from?: string
      /** a day such as 2026-11-30 */
      to?: string
      /** one of unconfirmed, under_way, booked, unexplained */
      state?: 'unconfirmed' | 'under_way' | 'booked' | 'unexplained'
      /** what it was */
      explained_by?:
        | 'payment'
        | 'payment_taken_back'
        | 'payment_returned'
        | 'bank_fee'
        | 'interest'
        | 'own_transfer'
        | 'correction'
        | 'batch'
        | 'payout'
        | 'payout_returned'
        | 'never_booked'
      /** an amount */
      amount?: string
      /** a part of its text or of who paid */
      text?: string
      /** the id of a file */
      file?: string
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        id: string
        account: string
        /** where it is a payment */
        payment_id: string | null
        day: string
        /** the time, where the bank tells it */
        booked_at: string | null
        /** negative if it left */
        amount: number
        /** what the rail kept of the payment, or charged for it: the payment is the amount and this */
        deducted: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** the movement's, or that of its payment */
        state: string
        /** what it was */
        explained_by:
          | 'payment'
          | 'payment_taken_back'
          | 'payment_returned'
          | 'bank_fee'
          | 'interest'
          | 'own_transfer'
          | 'correction'
          | 'batch'
          | 'payout'
          | 'payout_returned'
          | 'never_booked'
          | null
        txn_id: string | null
        why: string | null
        detail: string | null
        text: string
        payer: {
          account_no: string | null
          name: string | null
          bank: string | null
        }
        reported_by: string[]
        recorded: {
          by: string
          approved_by: string | null
          /** when it was recorded by hand */
          at: string
          /** the digest of the picture */
          slip: string
          reference: string | null
        } | null
        brought_by: string[]
        files: {
          file_id: string
          name: string
          via: string
          brought_by: string
        }[]
        /** nobody knows yet what it was */
        may_explain: boolean
      }[]
      /** pass as cursor; null at the end */
      next: string | null
    }
  }
  'GET /console/api/banks': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        code: string
        name: string
        closed: boolean
      }[]
      next: null
    }
  }
  'GET /console/api/books': {
    query: {
      /** an ISO 8601 time with zone; as it was then */
      as_of?: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency?:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
    }
    body: undefined
    answer: {
      /** as it was then; null: now */
      as_of: string | null
      balanced: boolean
      currencies: {
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** false: faults says what does not add up */
        balanced: boolean
        /** what agents may use */
        owed_to_agents: number
        /** what agents owe the house; negative */
        receivable: number
        /** held for waiting withdrawals */
        held: number
        /** held back of paid deposits */
        reserve: number
        /** reported for agents and not yet decided on */
        suspense_of_agents: number
        /** reported for nobody and not yet decided on */
        suspense_of_house: number
        /** left bank accounts, and nobody can say yet for what; negative */
        unexplained: number
        /** money at providers; negative */
        clearing: number
        /** charged to agents */
        fees: number
        /** charged by providers; negative */
        costs: number
        /** the other side of adjustments */
        adjustments: number
        /** differences that the house has taken on itself; negative: losses */
        differences: number
        /** moves between books; 0 if they balance */
        transfers: number
        /** all of it; 0 if the books balance */
        total: number
        /** what does not add up, in words */
        faults: string[]
        /** clearing by provider */
        providers: {
          provider: string
          /** money there; negative */
          clearing: number
        }[]
        /** without books that are empty */
        books: {
          /** null: a book of the house */
          app_id: string | null
          name: string
          /** the journal row these balances are after */
          seq: number
          /** may be below zero: then the agent owes it */
          available: number
          /** what the agent owes: what is below zero of available */
          receivable: number
          /** held for waiting withdrawals */
          held: number
          /** held back of paid deposits */
          reserve: number
          /** waits for a decision */
          suspense: number
          /** left bank accounts, and nobody can say yet for what; only in a book of the house */
          unexplained: number
          /** money at providers; negative */
          clearing: number
          /** not yet moved to the house, or moved to it */
          fees: number
          /** the same of what providers charge; negative */
          costs: number
          /** the other side of adjustments */
          adjustments: number
          /** only in a book of the house */
          differences: number
          /** moved to another book */
          transfers: number
          /** clearing by provider */
          providers: {
            provider: string
            /** money there; negative */
            clearing: number
          }[]
        }[]
      }[]
    }
  }
  'GET /console/api/books.csv': {
    query: {
      /** an ISO 8601 time with zone; as it was then */
      as_of?: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency?:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
    }
    body: undefined
    answer: string
  }
  'GET /console/api/books/history': {
    query: {
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** 1 to 90 */
      days?: number
    }
    body: undefined
    answer: {
      data: {
        /** a day in the service's time zone */
        day: string
        /** its end */
        at: string
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** false: faults says what does not add up */
        balanced: boolean
        /** what agents may use */
        owed_to_agents: number
        /** what agents owe the house; negative */
        receivable: number
        /** held for waiting withdrawals */
        held: number
        /** held back of paid deposits */
        reserve: number
        /** reported for agents and not yet decided on */
        suspense_of_agents: number
        /** reported for nobody and not yet decided on */
        suspense_of_house: number
        /** left bank accounts, and nobody can say yet for what; negative */
        unexplained: number
        /** money at providers; negative */
        clearing: number
        /** charged to agents */
        fees: number
        /** charged by providers; negative */
        costs: number
        /** the other side of adjustments */
        adjustments: number
        /** differences that the house has taken on itself; negative: losses */
        differences: number
        /** moves between books; 0 if they balance */
        transfers: number
        /** all of it; 0 if the books balance */
        total: number
      }[]
    }
  }
  'GET /console/api/callback-lanes': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** open, probing or paused */
        state: 'open' | 'probing' | 'paused'
        /** bad: probed, or callbacks were given up; warn: some were refused, have no address, or it is paused */
        health: 'good' | 'warn' | 'bad'
        /** why it is probed */
        why: string | null
        /** requests at once */
        width: number
        /** when the next single request may go */
        probe_at: string | null
        /** when it was last let go */
        resumed_at: string | null
        /** callbacks that wait, counted up to 1000 */
        waiting: number
        /** those of them that were sent and not accepted yet */
        failing: number
        /** the outcome that has waited longest among those counted */
        oldest_at: string | null
        /** tried until their time was over, counted up to 1000 */
        given_up: number
        /** not sent any more, because a later state of the order was; counted up to 1000 */
        superseded: number
        /** that have nowhere to go, counted up to 1000 */
        no_address: number
      }[]
    }
  }
  'GET /console/api/callbacks': {
    query: {
      /** an agent's app id */
      agent?: string
      /** one of waiting, sending, delivered, exhausted, no_address, superseded, paused, failing, undelivered */
      state?:
        | 'waiting'
        | 'sending'
        | 'delivered'
        | 'exhausted'
        | 'no_address'
        | 'superseded'
        | 'paused'
        | 'failing'
        | 'undelivered'
      /** seconds since it happened; without a state, of what is undelivered */
      older_than_s?: number
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** a number of the journal */
        seq: number
        txn_id: string
        ref_id: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** the outcome it tells */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        /** when the outcome happened */
        at: string
        /** how far it has come */
        delivery:
          | 'waiting'
          | 'sending'
          | 'delivered'
          | 'exhausted'
          | 'no_address'
          | 'superseded'
          | 'paused'
        /** since it was last set going */
        attempts: number
        /** when it is tried next; null where it is not */
        due_at: string | null
        /** when it was accepted */
        delivered_at: string | null
        /** what the latest attempt was answered with */
        last_status: number | null
        /** why the latest attempt failed */
        last_error: string | null
      }[]
      /** pass as cursor; null at the end */
      next: string | null
    }
  }
  'GET /console/api/callbacks/{app_id}/{seq}': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** an agent's app id */
      app_id: string
      agent_name: string
      /** a number of the journal */
      seq: number
      txn_id: string
      ref_id: string
      /** deposit or withdraw */
      kind: 'deposit' | 'withdraw'
      /** the outcome it tells */
      status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
      /** when the outcome happened */
      at: string
      /** how far it has come */
      delivery:
        | 'waiting'
        | 'sending'
        | 'delivered'
        | 'exhausted'
        | 'no_address'
        | 'superseded'
        | 'paused'
      /** since it was last set going */
      attempts: number
      /** when it is tried next; null where it is not */
      due_at: string | null
      /** when it was accepted */
      delivered_at: string | null
      /** what the latest attempt was answered with */
      last_status: number | null
      /** why the latest attempt failed */
      last_error: string | null
      /** the exact bytes, masked for viewers */
      body: string
      /** where it would be sent now */
      url: string | null
      /** newest first; at most 100 */
      attempts_made: {
        /** when */
        started_at: string
        duration_ms: number
        url: string
        /** the IP address that was dialled */
        address: string | null
        status: number | null
        response_headers: string | null
        /** at most 16 KiB */
        response_body: string | null
        error: string | null
      }[]
      /** a curl command that sends the same body; sign it with the secret */
      curl: string
    }
  }
  'GET /console/api/connectors': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        name: string
        company: string
        /** on, draining (takes nothing new) or off */
        state: 'on' | 'draining' | 'off'
        /** the version in use; null: none is */
        version: number | null
        newest_version: number
        /** whether the newest has passed its samples */
        newest_passed: boolean
        currencies: (
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        )[]
        deposits: boolean
        payouts: boolean
        /** the bank account whose lines it reports */
        account: string | null
        /** why what is to be used cannot be read, so that it is not used */
        fault: string | null
        figures: {
          /** that have made calls within a day */
          processes: number
          /** of these processes, since each began */
          calls: number
          /** calls without a usable answer */
          failures: number
          /** calls that were not made, because it failed */
          not_called: number
          under_way: number
          /** open; paused while it fails; trying again */
          state: 'open' | 'paused' | 'trying'
          last_fault: string | null
          /** when it failed last */
          last_fault_at: string | null
        } | null
      }[]
      next: null
    }
  }
  'GET /console/api/connectors/{name}': {
    query: Record<string, never>
    body: undefined
    answer: {
      name: string
      company: string
      /** on, draining (takes nothing new) or off */
      state: 'on' | 'draining' | 'off'
      /** the version in use; null: none is */
      version: number | null
      newest_version: number
      /** whether the newest has passed its samples */
      newest_passed: boolean
      currencies: (
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      )[]
      deposits: boolean
      payouts: boolean
      /** the bank account whose lines it reports */
      account: string | null
      /** why what is to be used cannot be read, so that it is not used */
      fault: string | null
      figures: {
        /** that have made calls within a day */
        processes: number
        /** of these processes, since each began */
        calls: number
        /** calls without a usable answer */
        failures: number
        /** calls that were not made, because it failed */
        not_called: number
        under_way: number
        /** open; paused while it fails; trying again */
        state: 'open' | 'paused' | 'trying'
        last_fault: string | null
        /** when it failed last */
        last_fault_at: string | null
      } | null
      /** which documentation was read */
      source: string | null
      limits: {
        /** for each process */
        calls_at_once: number
        /** for each process */
        calls_per_second: number
        timeout_ms: number
      }
      /** where the company sends its notices */
      notice_url: string
      /** the number of the use; send it with a change */
      use: number
      secrets: {
        name: string
        /** where it is found, as the document says */
        found: string | null
        /** the number of the newest; null: not set */
        newest: number | null
        in_use: number | null
        /** when the newest was set */
        added_at: string | null
        added_by: string | null
      }[]
      versions: {
        version: number
        sha256: string
        /** when it was added */
        added_at: string
        added_by: string
        /** the reason in the audit log */
        reason: string | null
        /** the names of those that it uses */
        secrets: string[]
        /** of these, those that calls are made with */
        secrets_of_calls: string[]
        /** whether it has passed its samples */
        passed: boolean
        /** when samples were tried on it last */
        tried_at: string | null
        tried_by: string | null
      }[]
      uses: {
        use: number
        version: number
        /** since when */
        at: string
        by: string
        /** the reason in the audit log */
        reason: string | null
      }[]
    }
  }
  'GET /console/api/connectors/{name}/versions/{version}': {
    query: Record<string, never>
    body: undefined
    answer: {
      version: number
      /** JSON, as it was given */
      document: string
    }
  }
  'GET /console/api/home': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** when these figures were taken */
      at: string
      /** users whose password is known to somebody who guessed codes */
      stopped_users: number | null
      /** what holds payouts back since the database was restored */
      restore_hold: {
        /** since when nothing is paid out */
        at: string
        /** whether all providers have been asked */
        asked: boolean
        /** what somebody has to find out about before it is released */
        open_differences: number
      } | null
      /** orders that no provider takes, in the currencies of active agents */
      refuses:
        | {
            /** deposit or withdraw */
            kind: 'deposit' | 'withdraw'
            /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
            currency:
              | 'THB'
              | 'VND'
              | 'SGD'
              | 'MYR'
              | 'IDR'
              | 'PHP'
              | 'INR'
              | 'BRL'
              | 'EUR'
              | 'CHF'
              | 'GBP'
              | 'USD'
          }[]
        | null
      set_up:
        | {
            /** a step of setting the service up */
            step: 'agent' | 'provider' | 'order' | 'callback' | 'second_admin' | 'backup'
            done: boolean
          }[]
        | null
      /** the beginning of today in the service's time zone */
      today_from: string
      /** the beginning of yesterday */
      yesterday_from: string
      deposits: {
        today: {
          /** orders created */
          orders: number
          /** of those, paid */
          paid: number
          /** of those, no longer waiting */
          ended: number
          /** paid of those that ended, 0 to 1 */
          success_rate: number | null
        }
        yesterday: {
          /** orders created */
          orders: number
          /** of those, paid */
          paid: number
          /** of those, no longer waiting */
          ended: number
          /** paid of those that ended, 0 to 1 */
          success_rate: number | null
        }
      }
      withdrawals: {
        today: {
          /** orders created */
          orders: number
          /** of those, paid */
          paid: number
          /** of those, no longer waiting */
          ended: number
          /** paid of those that ended, 0 to 1 */
          success_rate: number | null
        }
        yesterday: {
          /** orders created */
          orders: number
          /** of those, paid */
          paid: number
          /** of those, no longer waiting */
          ended: number
          /** paid of those that ended, 0 to 1 */
          success_rate: number | null
        }
      }
      volumes: {
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** deposits created today and paid */
        in_today: number
        /** the same, yesterday until this time of day */
        in_yesterday: number
        /** withdrawals created today and paid */
        out_today: number
        /** the same, yesterday until this time of day */
        out_yesterday: number
      }[]
      /** yesterday and today */
      hours: {
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** the beginning of the hour */
        at: string
        /** paid deposits that were created in it */
        in: number
        /** paid withdrawals that were created in it */
        out: number
        /** orders created in it */
        orders: number
      }[]
      waiting: {
        held: {
          /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
          currency:
            | 'THB'
            | 'VND'
            | 'SGD'
            | 'MYR'
            | 'IDR'
            | 'PHP'
            | 'INR'
            | 'BRL'
            | 'EUR'
            | 'CHF'
            | 'GBP'
            | 'USD'
          /** held for open withdrawals */
          amount: number
        }[]
        payments: {
          /** payments to decide, counted up to 1000 */
          count: number
          /** the oldest of them */
          oldest_at: string | null
        }
        payouts: {
          /** payouts whose end is not known, counted up to 1000 */
          count: number
          /** the oldest of them */
          oldest_at: string | null
        }
        withdrawals: {
          /** withdrawals that no provider has, counted up to 1000 */
          count: number
          /** the oldest of them */
          oldest_at: string | null
        }
        notice_events: {
          /** reported events that could not be acted on yet, counted up to 1000 */
          count: number
          /** the oldest of them */
          oldest_at: string | null
        } | null
      }
      callbacks: {
        failing: {
          /** callbacks that failed and are tried again, counted up to 1000 */
          count: number
          /** the oldest of them */
          oldest_at: string | null
        }
        given_up: {
          /** callbacks that were given up, counted up to 1000 */
          count: number
          /** the oldest of them */
          oldest_at: string | null
        }
        /** agents whose address keeps failing */
        lanes_probing: number
        /** agents whose callbacks are held back */
        lanes_paused: number
      }
      /** payouts of which a provider and the books say what cannot both be true */
      open_items:
        | {
            /** what contradicts what */
            kind:
              | 'paid_after_failed'
              | 'paid_twice'
              | 'failed_after_paid'
              | 'refunded_and_taken_back'
            /** open items of this kind */
            count: number
            /** the oldest of them */
            oldest_at: string
          }[]
        | null
      /** money that left a bank account against the books */
      payout_alarms:
        | {
            /** what happened */
            kind: 'paid_twice' | 'paid_after_failed' | 'unexplained_debit'
            /** the bank account that the money left */
            account: string
            /** where a person ends it */
            place: 'movement' | 'open_item'
            /** of this kind at the account, counted up to 1000 */
            count: number
            /** the oldest of them */
            oldest_at: string
          }[]
        | null
      providers:
        | {
            name: string
            /** on, draining or off */
            state: 'on' | 'draining' | 'off'
            /** withdrawals of today it paid */
            paid: number
            /** withdrawals of today that failed there */
            failed: number
            /** payouts under way */
            open: number
            /** of those, whose end is unknown */
            unknown: number
          }[]
        | null
      proof: {
        ok: boolean
        /** agents whose book does not prove */
        red_agents: number
        /** journal rows not looked at yet */
        unproved_rows: number
      } | null
    }
  }
  'GET /console/api/insights': {
    query: {
      /** 24 hours, 7 days, 30 days or 12 months, which end now */
      period: '24h' | '7d' | '30d' | '12m'
      /** an agent's app id */
      agent?: string
    }
    body: undefined
    answer: {
      /** when these figures were read */
      at: string
      /** the period */
      period: '24h' | '7d' | '30d' | '12m'
      /** its beginning */
      from: string
      /** the beginning of the period before */
      before_from: string
      /** its end, at the same time of day as now */
      before_to: string
      /** what each point of a plot stands for */
      step: 'hour' | 'day' | 'month'
      /** journal rows that are not in these figures yet */
      behind: number
      totals: {
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        now: {
          /** orders created in the period */
          created: number
          /** of those, still waiting */
          waiting: number
          /** of those, no longer waiting */
          ended: number
          /** of those that ended, paid */
          paid: number
          /** of those that are paid, whose callback the agent accepted */
          called_back: number
          /** paid of those that ended, 0 to 1 */
          success_rate: number | null
        }
        before: {
          /** orders created in the period */
          created: number
          /** of those, still waiting */
          waiting: number
          /** of those, no longer waiting */
          ended: number
          /** of those that ended, paid */
          paid: number
          /** of those that are paid, whose callback the agent accepted */
          called_back: number
          /** paid of those that ended, 0 to 1 */
          success_rate: number | null
        }
      }[]
      money: {
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        now: {
          /** paid deposits that were created in the period */
          in: number
          /** paid withdrawals that were created in the period */
          out: number
          /** fees charged in the period, without those given back */
          fees: number
          /** what providers charged in the period */
          costs: number | null
        }
        before: {
          /** paid deposits that were created in the period */
          in: number
          /** paid withdrawals that were created in the period */
          out: number
          /** fees charged in the period, without those given back */
          fees: number
          /** what providers charged in the period */
          costs: number | null
        }
      }[]
      /** every step of the period, also those without orders */
      series: {
        /** the beginning of the step */
        at: string
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** orders created in it */
        created: number
        /** orders that no longer wait */
        ended: number
        /** of those, paid */
        paid: number
        /** paid of those that ended, 0 to 1 */
        success_rate: number | null
        /** paid */
        volume: number
      }[]
      facets: {
        /** what the orders have in common */
        facet: 'provider' | 'bank' | 'amount' | 'hour'
        /** a provider, a bank code, the lower end of a band of amounts up to ten times as much, or an hour of the day */
        value: string
        /** the same in words */
        label: string
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** orders that no longer wait */
        ended: number
        /** of those, paid */
        paid: number
        /** paid of those that ended, 0 to 1 */
        success_rate: number | null
        /** paid */
        volume: number
        before: {
          /** orders that no longer wait */
          ended: number
          /** of those, paid */
          paid: number
          /** paid of those that ended, 0 to 1 */
          success_rate: number | null
          /** paid */
          volume: number
        } | null
      }[]
      endings: {
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what became of the orders instead of PAID */
        status: string
        /** who had them */
        provider: string | null
        /** orders */
        orders: number
        /** orders of the period before */
        before: number
      }[]
      time_to_paid: {
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** seconds from creation to payment, at most; null: a day and more */
        within_s: number | null
        /** orders that took longer than the span before, but not longer than this */
        orders: number
      }[]
      callbacks: {
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** orders that no longer wait, each with a callback about its status */
        ended: number
        /** of those callbacks, accepted */
        accepted: number
        /** half of them were accepted within so many seconds */
        half_within_s: number | null
        /** 19 of 20 were */
        most_within_s: number | null
      }[]
      balances: {
        /** the beginning of the step at whose end this was so, or is now */
        at: string
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what agents could use */
        available: number
        /** held for open withdrawals */
        held: number
        /** held back of paid deposits */
        reserve: number
      }[]
      costs:
        | {
            provider: string
            /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
            currency:
              | 'THB'
              | 'VND'
              | 'SGD'
              | 'MYR'
              | 'IDR'
              | 'PHP'
              | 'INR'
              | 'BRL'
              | 'EUR'
              | 'CHF'
              | 'GBP'
              | 'USD'
            /** what it charged */
            now: number
            /** and in the period before */
            before: number
          }[]
        | null
      /** agents with orders, most paid deposits first */
      league:
        | {
            /** an agent's app id */
            app_id: string
            agent_name: string
            /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
            currency:
              | 'THB'
              | 'VND'
              | 'SGD'
              | 'MYR'
              | 'IDR'
              | 'PHP'
              | 'INR'
              | 'BRL'
              | 'EUR'
              | 'CHF'
              | 'GBP'
              | 'USD'
            /** paid deposits */
            in: number
            /** in the period before */
            in_before: number
            /** paid withdrawals */
            out: number
            /** in the period before */
            out_before: number
            /** orders that no longer wait */
            ended: number
            /** of those, paid */
            paid: number
            /** paid of those that ended, 0 to 1 */
            success_rate: number | null
            /** paid of those that ended, 0 to 1 */
            success_rate_before: number | null
            /** fees charged */
            fees: number
            /** in the period before */
            fees_before: number
          }[]
        | null
    }
  }
  'GET /console/api/limits': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        /** null: each agent by itself */
        app_id: string | null
        /** 2 to 40 small letters, digits and hyphens */
        name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** amount or orders: at most so much; new_account: an account that was never paid before; blocked, allowed: a list */
        measure: 'amount' | 'orders' | 'new_account' | 'blocked' | 'allowed'
        /** whose orders are added up */
        per: 'agent' | 'user' | 'account' | null
        /** over which time, in the time zone of the service */
        period: 'order' | 'hour' | 'day' | 'month' | null
        /** an amount in decimals, or a number of orders */
        most: string | null
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        /** how long it waits, 1 to 720 */
        hours: number | null
        /** what the list is of */
        field: 'account' | 'name' | 'bank' | 'user' | null
        /** what becomes of an order that goes beyond it */
        outcome: 'refuse' | 'hold' | 'wait' | 'note'
        /** what is on the list; an account as number or as bank:number */
        values: string[]
        /** the rule in a sentence */
        words: string
        /** orders of before it are still being counted: until then it knows only a part */
        counting: boolean
        /** when what is used now frees */
        frees_at: string | null
        /** who uses most of it now, at most five */
        used: {
          app_id: string
          /** the user, or bank:account; masked for viewers */
          subject: string
          /** of the limit, now */
          used: string
          /** of the limit, 1 is all */
          share: number
        }[]
        /** when it was set */
        updated_at: string
        updated_by: string
      }[]
    }
  }
  'GET /console/api/me': {
    query: Record<string, never>
    body: undefined
    answer: {
      user: {
        id: string
        email: string
        /** one of admin, operator, viewer, agent */
        role: 'admin' | 'operator' | 'viewer' | 'agent'
        /** the agent, for a user of one */
        app_id: string | null
        agent_name: string | null
      }
      permissions: string[]
      /** for an operator who sees the console as the users of an agent do */
      view: {
        /** when this ends by itself */
        until: string | null
      } | null
      mode: 'sandbox' | 'live'
      /** the zone in which the service counts its days */
      time_zone: string
      preferences: {
        /** the zone in which I read times; null: the service's */
        time_zone: string | null
        /** in which I read the console, such as th; null: the browser's */
        language: string | null
      }
      version: string
      /** the time of the service */
      now: string
    }
  }
  'GET /console/api/me/alerts': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** from when to when I am not told what can wait, and when I get a digest of the day before; null: never */
      times: {
        /** a time zone such as Asia/Bangkok */
        zone: string
        /** a time of day such as 22:00 */
        quiet_from: string | null
        /** a time of day such as 22:00 */
        quiet_to: string | null
        /** a time of day such as 22:00 */
        digest_at: string | null
      }
      channels: {
        /** one of mail, webhook, telegram, line, slack */
        channel: 'mail' | 'webhook' | 'telegram' | 'line' | 'slack'
        /** whether the service is set up for it */
        available: boolean
        /** where it leads, if that is set */
        target: string | null
      }[]
      kinds: {
        /** what it is about */
        kind:
          | 'sign_in_new_place'
          | 'account_changed'
          | 'authority_changed'
          | 'new_secret'
          | 'callback_changed'
          | 'bank_account_changed'
          | 'approval_waiting'
          | 'payout_unknown'
          | 'payout_alarm'
          | 'proof_red'
          | 'reconcile_break'
          | 'callbacks_failing'
          | 'bank_connection'
          | 'bank_account_full'
          | 'rule_fired'
          | 'rule_over'
          | 'digest'
        title: string
        /** about security: to every channel that I have */
        always: boolean
        /** where I want to hear of it */
        channels: ('mail' | 'webhook' | 'telegram' | 'line' | 'slack')[]
      }[]
      latest: {
        kind: string
        words: string
        count: number
        /** one of mail, webhook, telegram, line, slack */
        channel: 'mail' | 'webhook' | 'telegram' | 'line' | 'slack'
        /** what became of it */
        state: 'waiting' | 'held' | 'gathered' | 'sent' | 'given_up'
        attempts: number
        /** what went wrong last */
        error: string | null
        /** when it last happened */
        at: string
      }[]
    }
  }
  'GET /console/api/me/passkeys': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** false if PUBLIC_URL has no name */
      available: boolean
      data: {
        id: string
        name: string
        /** when it was added */
        created_at: string
        /** when it was last used */
        last_used_at: string | null
      }[]
    }
  }
  'GET /console/api/me/sessions': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        id: string
        /** the one that asks */
        current: boolean
        ip: string
        user_agent: string | null
        /** when it began */
        created_at: string
        /** when it was last used */
        last_seen_at: string
      }[]
      next: null
    }
  }
  'GET /console/api/notice-events': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** the oldest first, at most 200 */
      data: {
        /** the provider that reported it */
        provider: string
        /** its id in the books */
        event_id: string
        /** the order that it names, if it names one */
        txn_id: string | null
        /** what the provider reported, in words */
        words: string
        /** why the service could not act on it yet */
        detail: string | null
        /** when it first arrived */
        received_at: string
        /** how often the service has tried */
        tries: number
        /** false for reported money, which is never closed */
        can_close: boolean
        /** how many were not understood for the same reason; only the oldest is listed */
        alike: number
      }[]
    }
  }
  'GET /console/api/open-items': {
    query: {
      /** open or closed */
      state?: 'open' | 'closed'
      /** an agent's app id */
      agent?: string
      /** what contradicts what */
      kind?: 'paid_after_failed' | 'paid_twice' | 'failed_after_paid' | 'refunded_and_taken_back'
      /** an address of a user */
      assignee?: string
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        /** its kind and the reference of the payout */
        item_id: string
        /** what contradicts what */
        kind: 'paid_after_failed' | 'paid_twice' | 'failed_after_paid' | 'refunded_and_taken_back'
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the withdrawal */
        txn_id: string
        /** who said it */
        provider: string
        /** what the provider knows the payout by */
        reference: string
        /** what the payout is about */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** the state that its word would lead to */
        provider_said: 'PAID' | 'REVERT' | 'FAILED' | 'CANCEL'
        /** what the order was when it was said */
        order_status: string
        /** who had the order then */
        order_provider: string | null
        /** both sides, in words */
        words: string
        /** when it was first said */
        opened_at: string
        /** when it was closed */
        closed_at: string | null
        /** order_paid: its order is PAID by this payout after all; looked_into: by a person otherwise */
        resolution: 'order_paid' | 'looked_into' | null
        /** the address of who closed it */
        closed_by: string | null
        /** what it was closed on */
        evidence: string | null
        /** write_off: the house bears it; charge_agent: the agent does; received_back: it is back, and what was booked is booked back */
        booked_as: 'write_off' | 'charge_agent' | 'received_back' | null
        /** the address of who looks into it */
        assignee: string | null
      }[]
      /** pass as cursor; null at the end */
      next: string | null
    }
  }
  'GET /console/api/open-items/{item_id}': {
    query: Record<string, never>
    body: undefined
    answer: {
      item: {
        /** its kind and the reference of the payout */
        item_id: string
        /** what contradicts what */
        kind: 'paid_after_failed' | 'paid_twice' | 'failed_after_paid' | 'refunded_and_taken_back'
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the withdrawal */
        txn_id: string
        /** who said it */
        provider: string
        /** what the provider knows the payout by */
        reference: string
        /** what the payout is about */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** the state that its word would lead to */
        provider_said: 'PAID' | 'REVERT' | 'FAILED' | 'CANCEL'
        /** what the order was when it was said */
        order_status: string
        /** who had the order then */
        order_provider: string | null
        /** both sides, in words */
        words: string
        /** when it was first said */
        opened_at: string
        /** when it was closed */
        closed_at: string | null
        /** order_paid: its order is PAID by this payout after all; looked_into: by a person otherwise */
        resolution: 'order_paid' | 'looked_into' | null
        /** the address of who closed it */
        closed_by: string | null
        /** what it was closed on */
        evidence: string | null
        /** write_off: the house bears it; charge_agent: the agent does; received_back: it is back, and what was booked is booked back */
        booked_as: 'write_off' | 'charge_agent' | 'received_back' | null
        /** the address of who looks into it */
        assignee: string | null
      }
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
      }
      /** what can be done about it, in words */
      next: string
      /** how what left can be booked; none if it need not be */
      bookings: ('write_off' | 'charge_agent' | 'received_back')[]
      /** oldest first */
      notes: {
        /** when */
        at: string
        /** the address of who wrote it */
        by: string
        /** who was to look into it from then on */
        assignee: string | null
        note: string | null
      }[]
    }
  }
  'GET /console/api/openapi.json': {
    query: Record<string, never>
    body: undefined
    answer: unknown
  }
  'GET /console/api/orders': {
    query: {
      /** deposit or withdraw */
      kind?: 'deposit' | 'withdraw'
      /** one of WAITING, PAID, FAILED, EXPIRED, VOID, CANCEL, REVERT */
      status?: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
      /** an agent's app id */
      agent?: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency?:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** an ISO 8601 time with zone; created then or later */
      from?: string
      /** an ISO 8601 time with zone; created before it */
      to?: string
      /** a whole number from 0 to 1000000000000 */
      min_amount?: number
      /** a whole number from 0 to 1000000000000 */
      max_amount?: number
      /** the name of a provider */
      provider?: string
      /** the user, as the agent names it */
      user?: string
      /** the account number, as it was given */
      account?: string
      /** the address of who looks into it */
      assignee?: string
      /** a tag of the order or of its user */
      tag?: string
      /** unknown: the provider has not said what became of the payout */
      payout?: 'unknown'
      /** an id: txn_id, ref_id, reference at the provider, or payment; if nothing has it, how a txn_id or ref_id begins */
      q?: string
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
        /** none for the agent's own users */
        tags: string[]
        /** the address of who looks into it */
        assignee: string | null
      }[]
      /** pass as cursor; null at the end */
      next: string | null
      /** no older order was looked at; null where all were */
      searched_to: string | null
    }
  }
  'GET /console/api/orders.csv': {
    query: {
      /** deposit or withdraw */
      kind?: 'deposit' | 'withdraw'
      /** one of WAITING, PAID, FAILED, EXPIRED, VOID, CANCEL, REVERT */
      status?: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
      /** an agent's app id */
      agent?: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency?:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** an ISO 8601 time with zone; created then or later */
      from?: string
      /** an ISO 8601 time with zone; created before it */
      to?: string
      /** a whole number from 0 to 1000000000000 */
      min_amount?: number
      /** a whole number from 0 to 1000000000000 */
      max_amount?: number
      /** the name of a provider */
      provider?: string
      /** the user, as the agent names it */
      user?: string
      /** the account number, as it was given */
      account?: string
      /** the address of who looks into it */
      assignee?: string
      /** a tag of the order or of its user */
      tag?: string
      /** unknown: the provider has not said what became of the payout */
      payout?: 'unknown'
      /** an id: txn_id, ref_id, reference at the provider, or payment; if nothing has it, how a txn_id or ref_id begins */
      q?: string
      /** only these orders, by commas; at most 100 */
      txn_ids?: string
    }
    body: undefined
    answer: string
  }
  'GET /console/api/orders/{txn_id}': {
    query: Record<string, never>
    body: undefined
    answer: {
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
        /** counts the changes of the order */
        version: number
        fee_rule: string
        /** the fee of what was really paid */
        paid_fee: number | null
        /** the very text the agent sent */
        extra_params: string | null
        /** when a provider got the withdrawal */
        handed_over_at: string | null
        /** a deposit's payment page */
        link: string | null
        /** the txn_id of the deposit that it refunds */
        refund_of: string | null
        /** what limits said when it was created; null for the agent's own users */
        limits: {
          /** whether it waits for a person or for a time */
          outcome: 'hold' | 'wait' | 'note'
          words: string
          /** when it may be paid out */
          wait_until: string | null
        } | null
        /** what of a deposit can still be refunded */
        refundable: number | null
      }
      /** a deposit's refunds, oldest first */
      refunds: {
        txn_id: string
        ref_id: string
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        /** what it gives back */
        amount: number
        /** when it was made */
        created_at: string
      }[]
      words: {
        /** why it is in this state */
        why: string
        /** what happens next, and what can be done */
        next: string
        /** the same, for other languages */
        why_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
        /** the same, for other languages */
        next_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
      }
      /** each time that it was handed over, as of now; empty for the agent's own users */
      payouts: {
        /** when it was handed over */
        handed_at: string
        provider: string
        reference: string
        /** what is known of it now */
        state: string
        /** how often its provider was asked */
        asks: number
        /** when its provider is asked next */
        ask_at: string | null
        /** what the provider said last */
        said: string | null
        evidence: string | null
      }[]
      /** money that came in, as of now; empty for the agent's own users */
      payments: {
        payment_id: string
        /** what came in */
        amount: number
        /** when it was reported */
        reported_at: string
        /** what has become of it */
        state: string
        /** why it waited for a decision */
        why: string | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        evidence: string | null
      }[]
      /** what providers reported, as of now; empty for the agent's own users */
      notices: {
        /** when it came */
        received_at: string
        provider: string
        event_id: string
        /** what was done with it */
        result: string | null
        detail: string | null
      }[]
      /** as of now, oldest first */
      callbacks: {
        seq: number
        /** the status that it tells */
        status: string
        /** how far its delivery is */
        delivery: string
        attempts: number
        /** when the agent took it */
        delivered_at: string | null
      }[]
      /** oldest first; each entry as it was known then */
      timeline: {
        /** when */
        at: string
        /** one of request, provider, notice, payment, journal, callback, attempt, operator */
        kind:
          | 'request'
          | 'provider'
          | 'notice'
          | 'payment'
          | 'journal'
          | 'callback'
          | 'attempt'
          | 'operator'
        /** what happened, by a code */
        event: string
        /** what happened, in English */
        title: string
        /** what is on record, as it is */
        raw: unknown
      }[]
      actions: {
        /** one of mark-paid, mark-failed, void, take-back, refund, cancel, revert, resend */
        name:
          | 'mark-paid'
          | 'mark-failed'
          | 'void'
          | 'take-back'
          | 'refund'
          | 'cancel'
          | 'revert'
          | 'resend'
        allowed: boolean
        /** in words, where it is not allowed */
        why_not: string | null
        /** the code has to be given again */
        moves_money: boolean
        needs: ('reason' | 'amount' | 'code')[]
      }[]
    }
  }
  'GET /console/api/orders/{txn_id}/marks': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        /** the order, its user, or the account it names */
        about: 'order' | 'user' | 'account'
        /** the id of the order or user, or the account number */
        subject: string
        tags: string[]
        /** an address of a user */
        assignee: string | null
        /** oldest first */
        notes: {
          /** when */
          at: string
          /** the address of who wrote it */
          by: string
          /** an address of a user */
          assignee: string | null
          note: string | null
        }[]
      }[]
    }
  }
  'GET /console/api/payments': {
    query: {
      /** to_decide or decided */
      state?: 'to_decide' | 'decided'
      /** an agent's app id */
      agent?: string
      /** one of late, wrong_amount, duplicate, fee, bound, unmatched, claimed_twice, wrong_provider, wrong_currency, ambiguous */
      why?:
        | 'late'
        | 'wrong_amount'
        | 'duplicate'
        | 'fee'
        | 'bound'
        | 'unmatched'
        | 'claimed_twice'
        | 'wrong_provider'
        | 'wrong_currency'
        | 'ambiguous'
      /** an address of a user */
      assignee?: string
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      }[]
      /** pass as cursor; null at the end */
      next: string | null
    }
  }
  'GET /console/api/payments/{payment_id}': {
    query: Record<string, never>
    body: undefined
    answer: {
      payment: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      }
      contradicted: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      } | null
      candidates: {
        order: {
          /** the service's transaction id */
          txn_id: string
          /** the agent's own id */
          ref_id: string
          /** an agent's app id */
          app_id: string
          agent_name: string
          /** deposit or withdraw */
          kind: 'deposit' | 'withdraw'
          /** what has become of it */
          status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
          user_id: string
          /** the amount asked for */
          amount: number
          /** what is to be paid, where it is not the amount */
          payable: number | null
          /** the fee of the transaction */
          fee: number
          /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
          currency:
            | 'THB'
            | 'VND'
            | 'SGD'
            | 'MYR'
            | 'IDR'
            | 'PHP'
            | 'INR'
            | 'BRL'
            | 'EUR'
            | 'CHF'
            | 'GBP'
            | 'USD'
          /** what was really paid */
          paid_amount: number | null
          /** masked for viewers */
          account_name: string
          /** masked for viewers */
          account_no: string
          bank_code: string
          /** null for the agent's own users */
          provider: string | null
          /** null for the agent's own users */
          provider_ref: string | null
          /** when it was created */
          created_at: string
          /** until when a deposit can be paid */
          expires_at: string | null
          /** when its outcome became known */
          completed_at: string | null
        }
        /** why it may be the one that was meant */
        because: string
        /** whether it can be credited to it */
        allowed: boolean
        why_not: string | null
      }[]
      /** what a person decided; null while it waits, and if nobody had to */
      decision: {
        /** when it was done */
        at: string
        /** credit_payment, return_payment or dismiss_payment */
        action: 'credit_payment' | 'return_payment' | 'dismiss_payment'
        /** who decided, or proposed it */
        by: string
        /** who approved it, where two had to */
        approved_by: string | null
        reason: string | null
        evidence: string | null
        /** the order it was credited to */
        txn_id: string | null
        /** an agent's app id */
        wallet: string | null
      } | null
      /** oldest first */
      notes: {
        /** when */
        at: string
        /** the address of who wrote it */
        by: string
        /** who was to look into it from then on */
        assignee: string | null
        note: string | null
      }[]
    }
  }
  'GET /console/api/payout-files': {
    query: {
      /** the name of a bank account */
      account?: string
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        id: string
        account: string
        /** where the file is in its life */
        state:
          | 'draft'
          | 'approving'
          | 'approved'
          | 'exported'
          | 'sent'
          | 'acknowledged'
          | 'closed'
          | 'cancelled'
        /** what an approval has to name */
        digest: string
        count: number
        /** of all items */
        sum: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        format: string
        made_by: string
        /** when the draft was made */
        made_at: string
        /** the bank has debited its payouts already: it is never sealed */
        already_paid: boolean
      }[]
      /** pass as cursor; null at the end */
      next: string | null
    }
  }
  'GET /console/api/payout-files/{id}': {
    query: Record<string, never>
    body: undefined
    answer: {
      id: string
      account: string
      /** where the file is in its life */
      state:
        | 'draft'
        | 'approving'
        | 'approved'
        | 'exported'
        | 'sent'
        | 'acknowledged'
        | 'closed'
        | 'cancelled'
      /** what an approval has to name */
      digest: string
      count: number
      /** of all items */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      format: string
      made_by: string
      /** when the draft was made */
      made_at: string
      /** the bank has debited its payouts already: it is never sealed */
      already_paid: boolean
      /** the one debit that paid all of it, as who approves says; else null */
      debit: {
        movement: string
        /** that left */
        amount: number
        /** of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house */
        rest: number
        day: string
        text: string
      } | null
      /** withdrawals of the draft that ended before the approval */
      dropped: number
      banks: {
        bank: string
        count: number
        /** of the bank's items */
        sum: number
      }[]
      sealed: {
        name: string
        message_id: string
        execution_date: string
        sha256: string
        /** when the bytes were fixed */
        sealed_at: string
        /** whether it would be for a later day now */
        is_over: boolean
      } | null
      approvals: {
        round: number
        digest: string
        by: string
        /** when */
        at: string
      }[]
      downloads: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      sent: {
        by: string
        bank_reference: string
        /** when */
        at: string
      } | null
      put: {
        /** its name on the bank's server */
        path: string
        by: string
        reason: string
        /** when */
        at: string
        /** held: a person has to look */
        state: 'waiting' | 'held' | 'arrived'
        /** why it has not arrived yet */
        fault: string | null
      } | null
      /** whether it may go to the bank's server by SFTP */
      can_send: boolean
      reports: {
        id: string
        by: string
        /** when */
        at: string
        /** what fits no payment of the file, and changed nothing */
        breaks: {
          what: string
          found: string
          code: string | null
        }[]
      }[]
      /** who had it sealed again for a later day */
      reseals: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      /** payouts that two people ended, and not the bank */
      ends: {
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        how: 'taken_out' | 'abandoned'
        count: number
        /** what two people decided */
        proposal: string
        reason: string
        /** when */
        at: string
      }[]
      /** what waits for a second person */
      proposals: {
        id: string
        action: string
        by: string
        /** when */
        at: string
      }[]
      items: {
        txn_id: string
        /** by which the bank names it; null in a draft */
        code: string | null
        /** to pay */
        amount: number
        /** what became of the payout */
        state:
          | 'waiting'
          | 'dropped'
          | 'accepted'
          | 'paid'
          | 'rejected'
          | 'unknown'
          | 'cancelled'
          | 'returned'
        /** what the bank said of it last */
        said: string | null
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        ended: 'taken_out' | 'abandoned' | null
        payee: {
          name: string
          account_no: string
          bank: string
        }
      }[]
    }
  }
  'GET /console/api/payouts-waiting': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        account: string
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        format: string
        /** withdrawals that wait for its next file */
        count: number
        /** of these */
        sum: number
        cutoffs: string[]
        zone: string
        /** the next cut-off of the bank; null if it has none */
        next_cutoff: string | null
        /** when the bank would execute a file of now */
        execution_date: string
        /** after a restore: what is missing before its files may leave again */
        locked: string[]
        /** debits of files that were lost with the database: people say what each paid */
        lost_sums: {
          movement: string
          /** that left */
          amount: number
          day: string
          /** withdrawals that wait here and that it may have paid */
          count: number
          /** of these */
          sum: number
        }[]
      }[]
      /** withdrawals that wait, and that nobody can pay as things are: the first 100 */
      stuck: {
        txn_id: string
        /** of the withdrawal */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** why nobody can pay it, in words */
        why: string
      }[]
      /** how many these are */
      stuck_count: number
    }
  }
  'GET /console/api/provider-figures': {
    query: {
      /** a whole number from 1 to 168 */
      hours?: number
    }
    body: undefined
    answer: {
      /** orders created since then are looked at */
      since: string
      /** false where there were too many to go back all the way */
      complete: boolean
      data: {
        provider: string
        deposits: {
          /** orders that were paid */
          paid: number
          /** orders that no longer wait and were not cancelled */
          ended: number
          /** paid of those that ended, 0 to 1 */
          success_rate: number | null
        }
        payouts: {
          /** orders that were paid */
          paid: number
          /** orders that no longer wait and were not cancelled */
          ended: number
          /** paid of those that ended, 0 to 1 */
          success_rate: number | null
        }
        /** payouts under way */
        open: number
        /** of those, payouts whose outcome the provider has not said */
        unknown: number
      }[]
      next: null
    }
  }
  'GET /console/api/provider-routes': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** send it with a change */
      version: string
      routes: {
        /** the name of a provider */
        provider: string
        /** its name, of at most 32 characters */
        route: string
        /** deposit or withdraw */
        direction: 'deposit' | 'withdraw'
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** a list of at most 200 bank codes, or null for all */
        banks: string[] | null
        /** a whole number from 1 to 1000000000000 */
        min_amount: number
        /** a whole number from 1 to 1000000000000 */
        max_amount: number
        /** a whole number from 1 to 1000 */
        preference: number
        /** a whole number from 1 to 1000 */
        weight: number
      }[]
    }
  }
  'GET /console/api/providers': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        name: string
        /** on, draining (takes nothing new) or off */
        state: 'on' | 'draining' | 'off'
        currencies: (
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        )[]
        deposits: boolean
        payouts: boolean
      }[]
      next: null
    }
  }
  'GET /console/api/queue': {
    query: Record<string, never>
    body: undefined
    answer: {
      counts: {
        /** payments to decide, up to 100 */
        payment: number
        /** proposals, bank accounts, files and payout files that you can approve or confirm, up to 100 */
        approval: number
        /** movements that nothing explains, up to 100 */
        movement: number
        /** payouts whose outcome is not known, up to 100 */
        payout: number
        /** days on which books and bank differ, up to 100 */
        break: number
        /** contradictions, up to 100 */
        open_item: number
        /** all of them */
        all: number
      }
      data: {
        /** what it is */
        kind: 'payment' | 'approval' | 'movement' | 'payout' | 'break' | 'open_item'
        /** of the payment, proposal, order, item, or account and day */
        id: string
        /** the bank account of a movement, the page of what is approved on its own, else the id */
        at: string
        /** why it waits, or what it is about */
        title: string
        /** where it is about an amount */
        amount: number | null
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        /** the agent concerned */
        app_id: string | null
        agent_name: string | null
        /** since when it waits */
        since: string
        /** the address of who looks into it */
        assignee: string | null
      }[]
    }
  }
  'GET /console/api/queue/counts': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** payments to decide, up to 100 */
      payment: number
      /** proposals, bank accounts, files and payout files that you can approve or confirm, up to 100 */
      approval: number
      /** movements that nothing explains, up to 100 */
      movement: number
      /** payouts whose outcome is not known, up to 100 */
      payout: number
      /** days on which books and bank differ, up to 100 */
      break: number
      /** contradictions, up to 100 */
      open_item: number
      /** all of them */
      all: number
    }
  }
  'GET /console/api/report-schedules': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        /** the id of a schedule */
        id: string
        /** a name, 1 to 60 characters; files are named after it */
        name: string
        /** an agent's app id */
        app_id: string | null
        /** day, week, month */
        every: 'day' | 'week' | 'month'
        /** the time of day at which it is made, after the period has ended */
        made_at: string
        /** the time zone of periods and of made_at */
        zone: string
        formats: ('csv' | 'xlsx' | 'pdf')[]
        /** every row of the journal, and not only what they come to */
        with_rows: boolean
        /** how it is sent */
        way: 'mail' | 'sftp'
        recipients: string[]
        sftp_host: string | null
        sftp_port: number | null
        sftp_user: string | null
        /** the server's key as ssh-keygen -l writes it */
        sftp_host_key: string | null
        /** the folder that files are put into */
        sftp_folder: string | null
        is_on: boolean
        /** whether a private key for SFTP is kept */
        has_key: boolean
        /** when it was set */
        updated_at: string
        updated_by: string
        /** its last reports, newest first */
        runs: {
          /** a day, week or month, such as 2026-11-16, 2026-W47 or 2026-11 */
          period: string
          /** what became of it */
          state: 'waiting' | 'sent' | 'given_up'
          attempts: number
          /** what went wrong last */
          error: string | null
          /** when it was due */
          created_at: string
          /** when it is tried next */
          due_at: string | null
          /** when it was sent or given up */
          ended_at: string | null
          files: {
            /** csv, xlsx, pdf */
            format: 'csv' | 'xlsx' | 'pdf'
            name: string
            size: number
          }[]
        }[]
      }[]
      /** whether mail is set up */
      mail: boolean
    }
  }
  'GET /console/api/report-schedules/{id}/{period}/{format}': {
    query: Record<string, never>
    body: undefined
    answer: string
  }
  'GET /console/api/restores': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** what holds payouts back; empty if nothing does */
      data: {
        id: string
        /** what happened since may be missing here */
        since: string
        /** when it was noticed or said */
        at: string
        found: string
        /** the epoch of the events since */
        epoch: number
        /** when all providers had been asked; null: they are being asked */
        asked_at: string | null
        differences: {
          subject: string
          words: string
          /** the order that it is about */
          txn_id: string | null
          /** who may have that order */
          provider: string | null
          /** by which it may have it */
          references: string[]
          /** whether it has to be named when payouts are released */
          open: boolean
        }[]
      }[]
    }
  }
  'GET /console/api/search': {
    query: {
      /** an id, a reference, a user, a name, an account number or an amount */
      q: string
      /** the same as a plain number, if it may be an amount */
      amount?: string
    }
    body: undefined
    answer: {
      /** what fits, of each kind the few that fit best */
      hits: {
        /** what was found */
        kind: 'agent' | 'order' | 'payment' | 'callback'
        /** its id; of a callback, the app id of its agent */
        id: string
        /** a callback's number */
        seq: number | null
        /** whose it is; null: nobody’s yet */
        agent_name: string | null
        /** deposit or withdraw */
        order_kind: 'deposit' | 'withdraw' | null
        /** the agent's reference of an order */
        ref_id: string | null
        /** the agent's user of an order */
        user_id: string | null
        /** who is paid, or paid */
        person: string | null
        /** of an order or a payment */
        amount: number | null
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        /** of an order, or of what a callback tells */
        status: string | null
        /** of an agent, a payment or a callback */
        state: string | null
        /** when it was created */
        at: string | null
      }[]
      /** orders before this were not looked at for the amount */
      searched_to: string | null
    }
  }
  'GET /console/api/settings': {
    query: Record<string, never>
    body: undefined
    answer: {
      settings: Record<string, unknown>
      session: {
        idle_limit_s: number
        absolute_limit_s: number
      }
    }
  }
  'GET /console/api/shared-views': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        /** 1 to 60 characters */
        name: string
        /** as they stand in the address */
        filters: string
        shared_by: string
      }[]
    }
  }
  'GET /console/api/sign-in/sso': {
    query: Record<string, never>
    body: undefined
    answer: {
      available: boolean
    }
  }
  'GET /console/api/slips/{slip}': {
    query: Record<string, never>
    body: undefined
    answer: string
  }
  'GET /console/api/stops': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        id: string
        /** null: everything */
        app_id: string | null
        /** whether deposits are stopped as well */
        deposits: boolean
        /** when it was stopped */
        at: string
        by: string
        reason: string
      }[]
    }
  }
  'GET /console/api/stories': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        name: string
        says: string
      }[]
      next: null
    }
  }
  'GET /console/api/trends': {
    query: {
      /** wallets: what was available at the end of each day; agents: what was paid of the orders of each day; providers: how many orders of each day were paid; lanes: about how many orders of each day a callback was accepted */
      of: 'wallets' | 'agents' | 'providers' | 'lanes'
    }
    body: undefined
    answer: {
      days: string[]
      /** rows of journals that are not counted yet */
      behind: number
      data: {
        /** an app id or the name of a provider */
        name: string
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        values: number[]
      }[]
    }
  }
  'GET /console/api/unexplained-movements': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        id: string
        account: string
        /** where it is a payment */
        payment_id: string | null
        day: string
        /** the time, where the bank tells it */
        booked_at: string | null
        /** negative if it left */
        amount: number
        /** what the rail kept of the payment, or charged for it: the payment is the amount and this */
        deducted: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** the movement's, or that of its payment */
        state: string
        /** what it was */
        explained_by:
          | 'payment'
          | 'payment_taken_back'
          | 'payment_returned'
          | 'bank_fee'
          | 'interest'
          | 'own_transfer'
          | 'correction'
          | 'batch'
          | 'payout'
          | 'payout_returned'
          | 'never_booked'
          | null
        txn_id: string | null
        why: string | null
        detail: string | null
        text: string
        payer: {
          account_no: string | null
          name: string | null
          bank: string | null
        }
        reported_by: string[]
        recorded: {
          by: string
          approved_by: string | null
          /** when it was recorded by hand */
          at: string
          /** the digest of the picture */
          slip: string
          reference: string | null
        } | null
        brought_by: string[]
        files: {
          file_id: string
          name: string
          via: string
          brought_by: string
        }[]
        /** nobody knows yet what it was */
        may_explain: boolean
      }[]
      next: null
    }
  }
  'GET /console/api/users': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        id: string
        email: string
        /** one of admin, operator, viewer, agent */
        role: 'admin' | 'operator' | 'viewer' | 'agent'
        /** the one agent they see */
        app_id: string | null
        /** invited: has no password yet, or not any more */
        state: 'active' | 'invited' | 'disabled'
        /** since when their password signs in no new device; reset them, or let them change it */
        codes_stopped_at: string | null
        /** when they were invited first */
        created_at: string
        /** when they were last there */
        last_seen_at: string | null
      }[]
      next: null
    }
  }
  'GET /console/api/wallets': {
    query: Record<string, never>
    body: undefined
    answer: {
      data: {
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** available, without what is held or in reserve */
        balance: number
        /** held for waiting withdrawals */
        held: number
        /** held back of paid deposits until its time has come */
        reserve: number
        /** reported for the agent and not yet decided on */
        suspense: number
        /** the other side at the banks */
        clearing: number
        /** charged to the agent since they were last moved to the house */
        fees: number
        /** charged by providers since they were last moved to the house; negative */
        costs: number
        /** the other side of adjustments */
        adjustments: number
        /** moved to the house */
        transfers: number
        /** the journal row these balances are after */
        seq: number
      }[]
    }
  }
  'GET /console/api/wallets/{app_id}': {
    query: {
      /** an ISO 8601 time with zone; as it was then */
      as_of?: string
    }
    body: undefined
    answer: {
      /** an agent's app id */
      app_id: string
      agent_name: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** available, without what is held or in reserve */
      balance: number
      /** held for waiting withdrawals */
      held: number
      /** held back of paid deposits until its time has come */
      reserve: number
      /** reported for the agent and not yet decided on */
      suspense: number
      /** the other side at the banks */
      clearing: number
      /** charged to the agent since they were last moved to the house */
      fees: number
      /** charged by providers since they were last moved to the house; negative */
      costs: number
      /** the other side of adjustments */
      adjustments: number
      /** moved to the house */
      transfers: number
      /** the journal row these balances are after */
      seq: number
      /** as it was then; null: now */
      as_of: string | null
      /** when the row these balances are after was written */
      at: string | null
      proof: {
        /** everything up to here is proved */
        proved_seq: number
        /** what does not prove, in words */
        finding: string | null
        /** when the proof last looked */
        checked_at: string | null
      }
    }
  }
  'GET /console/api/wallets/{app_id}/journal': {
    query: {
      /** an ISO 8601 time with zone; as it was then */
      as_of?: string
      /** next from the page before */
      cursor?: string
      /** 1 to 200 */
      limit?: number
    }
    body: undefined
    answer: {
      data: {
        /** gapless in the journal */
        seq: number
        /** when it happened */
        at: string
        event: string
        txn_id: string | null
        /** change of the available balance */
        amount: number
        /** change of what is held */
        held_change: number
        /** change of the fees paid */
        fee: number
        /** available after it */
        balance: number
        /** held after it */
        held: number
        reason: string | null
      }[]
      /** pass as cursor; null at the end */
      next: string | null
    }
  }
  'GET /console/api/wallets/{app_id}/statement.csv': {
    query: {
      /** an ISO 8601 time with zone; rows of then or later */
      from: string
      /** an ISO 8601 time with zone; rows before it */
      to: string
      /** every row, or only what they come to by kind; rows if left out */
      content?: 'rows' | 'summary'
    }
    body: undefined
    answer: string
  }
  'GET /console/api/wallets/{app_id}/statement.pdf': {
    query: {
      /** an ISO 8601 time with zone; rows of then or later */
      from: string
      /** an ISO 8601 time with zone; rows before it */
      to: string
      /** every row, or only what they come to by kind; rows if left out */
      content?: 'rows' | 'summary'
    }
    body: undefined
    answer: string
  }
  'PATCH /console/api/agents/{app_id}': {
    query: Record<string, never>
    body: {
      /** 1 to 128 printable characters */
      name?: string
      /** an http or https URL, or null */
      deposit_callback?: string | null
      /** an http or https URL, or null */
      withdraw_callback?: string | null
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      deposit_fee?: string
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      withdraw_fee?: string
      /** PERCENT%/DAYS with at most two decimals, such as 7.5%/90, or none */
      reserve?: string
      /** return or keep: the fee of a payout that came back */
      revert_fee?: 'return' | 'keep'
      /** review or credit: money late or of another amount */
      late_money?: 'review' | 'credit'
      /** off or daily or weekly: when the balance is paid out */
      settle?: 'off' | 'daily' | 'weekly'
      /** whole units */
      settle_keep?: number
      /** 1 to 200 printable characters */
      settle_to?: string | null
      /** one of link, link+qrcode, link+transfer, link+qrcode+transfer */
      method?: 'link' | 'link+qrcode' | 'link+transfer' | 'link+qrcode+transfer'
      /** 1 to 2592000 seconds */
      expires_in?: number
      /** whole units */
      min_deposit?: number
      /** whole units */
      max_deposit?: number
      /** whole units */
      min_withdraw?: number
      /** whole units */
      max_withdraw?: number
      /** 0 to 1000000 requests a second */
      rate_limit?: number
      /** a list of addresses or CIDR ranges; empty: every address */
      allow_ip?: string[]
      /** a list of addresses or CIDR ranges; empty: every address that is allowed */
      withdraw_ip?: string[]
      /** a list of origins such as https://shop.example, or only any for every origin, or empty for none; required for a new agent in live */
      frame_origin?: string[]
      /** 1 to 2000 printable characters */
      return_url?: string | null
      /** 1 to 500 printable characters */
      support?: string | null
      /** a colour such as #0a7d4f, or null */
      colour?: string | null
      /** a data: URL of a PNG, JPEG or WebP picture of at most 32 KiB, or null */
      logo?: string | null
      /** updated_at of the agent as it was read */
      updated_at: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      app_id: string
      name: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** active or suspended */
      status: 'active' | 'suspended'
      /** an http or https URL, or null */
      deposit_callback: string | null
      /** an http or https URL, or null */
      withdraw_callback: string | null
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      deposit_fee: string
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      withdraw_fee: string
      /** PERCENT%/DAYS with at most two decimals, such as 7.5%/90, or none */
      reserve: string
      /** return or keep: the fee of a payout that came back */
      revert_fee: 'return' | 'keep'
      /** review or credit: money late or of another amount */
      late_money: 'review' | 'credit'
      /** off or daily or weekly: when the balance is paid out */
      settle: 'off' | 'daily' | 'weekly'
      /** whole units */
      settle_keep: number
      /** 1 to 200 printable characters */
      settle_to: string | null
      /** one of link, link+qrcode, link+transfer, link+qrcode+transfer */
      method: 'link' | 'link+qrcode' | 'link+transfer' | 'link+qrcode+transfer'
      /** 1 to 2592000 seconds */
      expires_in: number
      /** whole units */
      min_deposit: number
      /** whole units */
      max_deposit: number
      /** whole units */
      min_withdraw: number
      /** whole units */
      max_withdraw: number
      /** 0 to 1000000 requests a second */
      rate_limit: number
      /** a list of addresses or CIDR ranges; empty: every address */
      allow_ip: string[]
      /** a list of addresses or CIDR ranges; empty: every address that is allowed */
      withdraw_ip: string[]
      /** a list of origins such as https://shop.example, or only any for every origin, or empty for none; required for a new agent in live */
      frame_origin: string[]
      /** 1 to 2000 printable characters */
      return_url: string | null
      /** 1 to 500 printable characters */
      support: string | null
      /** when it was made */
      created_at: string
      /** when it was last changed; send it with a change */
      updated_at: string
      /** a colour such as #0a7d4f, or null */
      colour: string | null
      /** a data: URL of a PNG, JPEG or WebP picture of at most 32 KiB, or null */
      logo: string | null
      keys: {
        /** 1 or 2 */
        slot: number
        /** when it was made */
        created_at: string
        /** until when it is valid; null: until it is rotated */
        expires_at: string | null
        /** when it last signed a request */
        last_used_at: string | null
      }[]
    }
  }
  'PATCH /console/api/bank-accounts/{name}': {
    query: Record<string, never>
    body: {
      /** the bank's code, or empty */
      bank: string
      /** its number or IBAN */
      account_no: string
      /** whose account it is */
      account_name: string
      /** where the QR code needs it */
      city: string | null
      /** street;no;post code;town;country, where the QR code needs it */
      address: string | null
      /** one of promptpay-mobile, promptpay-id, promptpay-bill, vietqr, pix, paynow, epc, swiss, upi, template, none */
      qr_kind:
        | 'promptpay-mobile'
        | 'promptpay-id'
        | 'promptpay-bill'
        | 'vietqr'
        | 'pix'
        | 'paynow'
        | 'epc'
        | 'swiss'
        | 'upi'
        | 'template'
        | 'none'
      /** what the kind needs to know */
      qr_value: string | null
      /** code, amount or code+amount */
      match?: 'code' | 'amount' | 'code+amount'
      /** two characters that payment codes begin with, or digits */
      code_form?: string
      /** a whole number from 1 to 9999 */
      surplus_steps?: number
      /** a whole number from 0 to 720 */
      hold_hours?: number
      /** an amount; null for any */
      day_limit: string | null
      /** an amount; 0 believes no file that a person brings alone */
      file_limit: string
      /** the largest payment that a push with a token is believed */
      token_limit?: string
      /** how much in a day pushes with a token are believed */
      token_day_limit?: string
      /** what the rail takes out of each payment before it arrives */
      expected_deduction?: string
      /** how what the sender of the feed writes is read, as JSON */
      feed_profile?: string | null
      /** file: withdrawals leave by payment files */
      payout?: 'none' | 'file'
      /** the format of payment files that its bank takes */
      payout_format?: string | null
      /** how names are written in its files: latin letters, kept as they are, or as the format usually does */
      payout_characters?: 'format' | 'latin' | 'kept'
      /** times */
      payout_cutoffs?: string[]
      /** days */
      payout_holidays?: string[]
      /** minutes before each cut-off, from 1 to 1440, at which a draft is made by itself */
      payout_draft_before?: number | null
      /** the most in one file; null for any amount */
      payout_file_limit?: string | null
      /** the most in files approved in a day; null for any amount */
      payout_day_limit?: string | null
      /** whether the bank's answer that it paid counts, or only the debit it books */
      payout_trusts_paid?: boolean
      /** its bank's server for files; null for none */
      sftp_host?: string | null
      /** from 1 to 65535 */
      sftp_port?: number | null
      /** who signs in there */
      sftp_user?: string | null
      /** the fingerprint of the key that the server must have; several by commas */
      sftp_host_key?: string | null
      /** where payment files are put */
      sftp_put_folder?: string | null
      /** where answers and statements are fetched */
      sftp_get_folder?: string | null
      /** a new private key; it is never shown. Left out: the one that is set */
      sftp_key?: string | null
      /** signed, token or none */
      feed: 'signed' | 'token' | 'none'
      /** a time zone such as Asia/Bangkok */
      zone?: string
      /** how its CSV files are read, as JSON */
      csv_profile: string | null
      /** of its MT940 and OFX files, such as cp850; null for the usual one */
      encoding: string | null
      /** account numbers */
      own_accounts: string[]
      /** version of the account as read */
      version: number
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      account: {
        name: string
        /** unconfirmed: it takes no deposits until another person confirms it */
        state: 'on' | 'draining' | 'off' | 'unconfirmed'
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        bank: string
        account_no: string
        account_name: string
        city: string | null
        address: string | null
        /** one of promptpay-mobile, promptpay-id, promptpay-bill, vietqr, pix, paynow, epc, swiss, upi, template, none */
        qr_kind:
          | 'promptpay-mobile'
          | 'promptpay-id'
          | 'promptpay-bill'
          | 'vietqr'
          | 'pix'
          | 'paynow'
          | 'epc'
          | 'swiss'
          | 'upi'
          | 'template'
          | 'none'
        qr_value: string | null
        /** code, amount or code+amount */
        match: 'code' | 'amount' | 'code+amount'
        code_form: string
        surplus_steps: number
        hold_hours: number
        day_limit: string | null
        file_limit: string
        expected_deduction: string
        /** signed, token or none */
        feed: 'signed' | 'token' | 'none'
        token_limit: string
        token_day_limit: string
        feed_profile: string | null
        /** file: withdrawals leave by payment files */
        payout: 'none' | 'file'
        payout_format: string | null
        /** how names are written in its files: latin letters, kept as they are, or as the format usually does */
        payout_characters: 'format' | 'latin' | 'kept'
        payout_cutoffs: string[]
        payout_holidays: string[]
        payout_draft_before: number | null
        payout_file_limit: string | null
        payout_day_limit: string | null
        payout_trusts_paid: boolean
        sftp_host: string | null
        sftp_port: number | null
        sftp_user: string | null
        sftp_host_key: string | null
        sftp_put_folder: string | null
        sftp_get_folder: string | null
        sftp_state: {
          /** why files do not come or go */
          fault: string | null
          /** since when it is so */
          since: string
          /** of the last visit */
          looked_at: string
        } | null
        /** where the bank reports to */
        feed_url: string | null
        zone: string
        csv_profile: string | null
        encoding: string | null
        own_accounts: string[]
        former_numbers: string[]
        /** when it was made */
        created_at: string
        created_by: string
        /** what was changed last, by commas */
        changed: string | null
        /** when */
        changed_at: string | null
        changed_by: string | null
        /** it takes deposits since */
        confirmed_at: string | null
        confirmed_by: string | null
        test_payment: {
          /** what was paid */
          amount: number
          /** when */
          paid_at: string
          paid_by: string
        } | null
        /** version of the account as read */
        version: number
        /** deposits whose payment is awaited */
        expected: number
        places: {
          /** unique amounts in use, of the amount most asked for */
          used: number
          all: number
          /** the amount most asked for */
          amount: number
        } | null
        /** when the bank last told something new */
        last_report_at: string | null
        last_day: {
          day: string
          /** green, amber or red */
          state: 'green' | 'amber' | 'red'
        } | null
        /** movements that wait for a second person */
        unconfirmed: number
        /** movements that wait for an explanation */
        unexplained: number
      }
      /** shown only here */
      feed_secret: string | null
    }
  }
  'PATCH /console/api/providers/{id}': {
    query: Record<string, never>
    body: {
      /** on, draining (takes nothing new) or off */
      state: 'on' | 'draining' | 'off'
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      name: string
      /** on, draining (takes nothing new) or off */
      state: 'on' | 'draining' | 'off'
    }
  }
  'PATCH /console/api/users/{id}': {
    query: Record<string, never>
    body: {
      /** one of admin, operator, viewer, agent */
      role?: 'admin' | 'operator' | 'viewer' | 'agent'
      /** the app id of an agent */
      app_id?: string
      /** true or false */
      disabled?: boolean
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      email: string
      /** one of admin, operator, viewer, agent */
      role: 'admin' | 'operator' | 'viewer' | 'agent'
      /** the one agent they see */
      app_id: string | null
      /** invited: has no password yet, or not any more */
      state: 'active' | 'invited' | 'disabled'
      /** since when their password signs in no new device; reset them, or let them change it */
      codes_stopped_at: string | null
      /** when they were invited first */
      created_at: string
      /** when they were last there */
      last_seen_at: string | null
    }
  }
  'POST /console/api/agents': {
    query: Record<string, never>
    body: {
      /** 1 to 128 printable characters */
      name: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** an http or https URL, or null */
      deposit_callback?: string | null
      /** an http or https URL, or null */
      withdraw_callback?: string | null
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      deposit_fee?: string
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      withdraw_fee?: string
      /** PERCENT%/DAYS with at most two decimals, such as 7.5%/90, or none */
      reserve?: string
      /** return or keep: the fee of a payout that came back */
      revert_fee?: 'return' | 'keep'
      /** review or credit: money late or of another amount */
      late_money?: 'review' | 'credit'
      /** off or daily or weekly: when the balance is paid out */
      settle?: 'off' | 'daily' | 'weekly'
      /** whole units */
      settle_keep?: number
      /** 1 to 200 printable characters */
      settle_to?: string | null
      /** one of link, link+qrcode, link+transfer, link+qrcode+transfer */
      method?: 'link' | 'link+qrcode' | 'link+transfer' | 'link+qrcode+transfer'
      /** 1 to 2592000 seconds */
      expires_in?: number
      /** whole units */
      min_deposit?: number
      /** whole units */
      max_deposit?: number
      /** whole units */
      min_withdraw?: number
      /** whole units */
      max_withdraw?: number
      /** 0 to 1000000 requests a second */
      rate_limit?: number
      /** a list of addresses or CIDR ranges; empty: every address */
      allow_ip?: string[]
      /** a list of addresses or CIDR ranges; empty: every address that is allowed */
      withdraw_ip?: string[]
      /** a list of origins such as https://shop.example, or only any for every origin, or empty for none; required for a new agent in live */
      frame_origin?: string[]
      /** 1 to 2000 printable characters */
      return_url?: string | null
      /** 1 to 500 printable characters */
      support?: string | null
      /** a colour such as #0a7d4f, or null */
      colour?: string | null
      /** a data: URL of a PNG, JPEG or WebP picture of at most 32 KiB, or null */
      logo?: string | null
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      app_id: string
      /** shown this once */
      secret: string
    }
  }
  'POST /console/api/agents/{app_id}/check-address': {
    query: Record<string, never>
    body: {
      /** an http or https URL */
      url: string
    }
    answer: {
      ok: boolean
      steps: {
        /** what was looked at */
        step: 'address' | 'name' | 'connection' | 'tls' | 'answer'
        ok: boolean
        /** in words */
        says: string
      }[]
    }
  }
  'POST /console/api/agents/{app_id}/fee-preview': {
    query: Record<string, never>
    body: {
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      deposit_fee: string
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      withdraw_fee: string
    }
    answer: {
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** the oldest moment looked at */
      from: string
      /** false: only the newest orders of the month */
      complete: boolean
      deposit: {
        /** how many were looked at */
        orders: number
        /** what was paid in all */
        amount: number
        /** what they were charged */
        fees_now: number
        /** what they would have been charged */
        fees_then: number
      }
      withdraw: {
        /** how many were looked at */
        orders: number
        /** what was paid in all */
        amount: number
        /** what they were charged */
        fees_now: number
        /** what they would have been charged */
        fees_then: number
      }
    }
  }
  'POST /console/api/agents/{app_id}/keys': {
    query: Record<string, never>
    body: {
      /** 0 to 2592000 seconds for which the old secret stays valid */
      overlap_s: number
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      app_id: string
      /** shown this once */
      secret: string
    }
  }
  'POST /console/api/agents/{app_id}/keys/{slot}/revoke': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      keys: {
        /** 1 or 2 */
        slot: number
        /** when it was made */
        created_at: string
        /** until when it is valid; null: until it is rotated */
        expires_at: string | null
        /** when it last signed a request */
        last_used_at: string | null
      }[]
    }
  }
  'POST /console/api/agents/{app_id}/resume': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      app_id: string
      name: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** active or suspended */
      status: 'active' | 'suspended'
      /** an http or https URL, or null */
      deposit_callback: string | null
      /** an http or https URL, or null */
      withdraw_callback: string | null
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      deposit_fee: string
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      withdraw_fee: string
      /** PERCENT%/DAYS with at most two decimals, such as 7.5%/90, or none */
      reserve: string
      /** return or keep: the fee of a payout that came back */
      revert_fee: 'return' | 'keep'
      /** review or credit: money late or of another amount */
      late_money: 'review' | 'credit'
      /** off or daily or weekly: when the balance is paid out */
      settle: 'off' | 'daily' | 'weekly'
      /** whole units */
      settle_keep: number
      /** 1 to 200 printable characters */
      settle_to: string | null
      /** one of link, link+qrcode, link+transfer, link+qrcode+transfer */
      method: 'link' | 'link+qrcode' | 'link+transfer' | 'link+qrcode+transfer'
      /** 1 to 2592000 seconds */
      expires_in: number
      /** whole units */
      min_deposit: number
      /** whole units */
      max_deposit: number
      /** whole units */
      min_withdraw: number
      /** whole units */
      max_withdraw: number
      /** 0 to 1000000 requests a second */
      rate_limit: number
      /** a list of addresses or CIDR ranges; empty: every address */
      allow_ip: string[]
      /** a list of addresses or CIDR ranges; empty: every address that is allowed */
      withdraw_ip: string[]
      /** a list of origins such as https://shop.example, or only any for every origin, or empty for none; required for a new agent in live */
      frame_origin: string[]
      /** 1 to 2000 printable characters */
      return_url: string | null
      /** 1 to 500 printable characters */
      support: string | null
      /** when it was made */
      created_at: string
      /** when it was last changed; send it with a change */
      updated_at: string
      /** a colour such as #0a7d4f, or null */
      colour: string | null
      /** a data: URL of a PNG, JPEG or WebP picture of at most 32 KiB, or null */
      logo: string | null
      keys: {
        /** 1 or 2 */
        slot: number
        /** when it was made */
        created_at: string
        /** until when it is valid; null: until it is rotated */
        expires_at: string | null
        /** when it last signed a request */
        last_used_at: string | null
      }[]
    }
  }
  'POST /console/api/agents/{app_id}/secrets': {
    query: Record<string, never>
    body: {
      /** what it is for */
      name: string
      /** what it may do; at least one */
      scopes: ('deposit' | 'withdraw' | 'read' | 'callback')[]
      /** only requests from these addresses or CIDR ranges; empty: every address */
      allow_ip?: string[]
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      app_id: string
      id: number
      /** shown once */
      secret: string
    }
  }
  'POST /console/api/agents/{app_id}/secrets/{id}/revoke': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        id: number
        name: string
        /** what it may do; at least one */
        scopes: ('deposit' | 'withdraw' | 'read' | 'callback')[]
        /** only requests from these addresses or CIDR ranges; empty: every address */
        allow_ip: string[]
        /** when it was made */
        created_at: string
        created_by: string
        /** when it ended */
        revoked_at: string | null
        /** when it was last used */
        last_used_at: string | null
      }[]
    }
  }
  'POST /console/api/agents/{app_id}/suspend': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      app_id: string
      name: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** active or suspended */
      status: 'active' | 'suspended'
      /** an http or https URL, or null */
      deposit_callback: string | null
      /** an http or https URL, or null */
      withdraw_callback: string | null
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      deposit_fee: string
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      withdraw_fee: string
      /** PERCENT%/DAYS with at most two decimals, such as 7.5%/90, or none */
      reserve: string
      /** return or keep: the fee of a payout that came back */
      revert_fee: 'return' | 'keep'
      /** review or credit: money late or of another amount */
      late_money: 'review' | 'credit'
      /** off or daily or weekly: when the balance is paid out */
      settle: 'off' | 'daily' | 'weekly'
      /** whole units */
      settle_keep: number
      /** 1 to 200 printable characters */
      settle_to: string | null
      /** one of link, link+qrcode, link+transfer, link+qrcode+transfer */
      method: 'link' | 'link+qrcode' | 'link+transfer' | 'link+qrcode+transfer'
      /** 1 to 2592000 seconds */
      expires_in: number
      /** whole units */
      min_deposit: number
      /** whole units */
      max_deposit: number
      /** whole units */
      min_withdraw: number
      /** whole units */
      max_withdraw: number
      /** 0 to 1000000 requests a second */
      rate_limit: number
      /** a list of addresses or CIDR ranges; empty: every address */
      allow_ip: string[]
      /** a list of addresses or CIDR ranges; empty: every address that is allowed */
      withdraw_ip: string[]
      /** a list of origins such as https://shop.example, or only any for every origin, or empty for none; required for a new agent in live */
      frame_origin: string[]
      /** 1 to 2000 printable characters */
      return_url: string | null
      /** 1 to 500 printable characters */
      support: string | null
      /** when it was made */
      created_at: string
      /** when it was last changed; send it with a change */
      updated_at: string
      /** a colour such as #0a7d4f, or null */
      colour: string | null
      /** a data: URL of a PNG, JPEG or WebP picture of at most 32 KiB, or null */
      logo: string | null
      keys: {
        /** 1 or 2 */
        slot: number
        /** when it was made */
        created_at: string
        /** until when it is valid; null: until it is rotated */
        expires_at: string | null
        /** when it last signed a request */
        last_used_at: string | null
      }[]
    }
  }
  'POST /console/api/agents/{app_id}/view-as': {
    query: Record<string, never>
    body: undefined
    answer: {
      user: {
        id: string
        email: string
        /** one of admin, operator, viewer, agent */
        role: 'admin' | 'operator' | 'viewer' | 'agent'
        /** the agent, for a user of one */
        app_id: string | null
        agent_name: string | null
      }
      permissions: string[]
      /** for an operator who sees the console as the users of an agent do */
      view: {
        /** when this ends by itself */
        until: string | null
      } | null
      mode: 'sandbox' | 'live'
      /** the zone in which the service counts its days */
      time_zone: string
      preferences: {
        /** the zone in which I read times; null: the service's */
        time_zone: string | null
        /** in which I read the console, such as th; null: the browser's */
        language: string | null
      }
      version: string
      /** the time of the service */
      now: string
    }
  }
  'POST /console/api/alarms/{id}/acknowledge': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** which I have not acknowledged */
      data: {
        id: string
        /** when it was raised */
        at: string
        by: string
        words: string
      }[]
    }
  }
  'POST /console/api/alert-rules/remove': {
    query: Record<string, never>
    body: {
      /** a name, 1 to 60 characters */
      name: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        /** a name, 1 to 60 characters */
        name: string
        /** null: each agent */
        app_id: string | null
        /** what it watches for */
        kind:
          | 'payout_unknown'
          | 'lane_probing'
          | 'callbacks_failing'
          | 'success_below'
          | 'balance_below'
          | 'proof_red'
          | 'breaks'
          | 'nothing_for'
        /** minutes, a number, per cent, or an amount, as the kind has it */
        threshold: string | null
        /** orders that ended in the last so many */
        window_minutes: number | null
        /** of fewer nothing is said */
        min_orders: number | null
        /** deposit or withdraw; null: both */
        order_kind: 'deposit' | 'withdraw' | null
        /** a provider or a bank account; null: each */
        provider: string | null
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        /** such as 08:00 */
        hours_from: string | null
        /** such as 08:00 */
        hours_to: string | null
        /** a time zone such as Asia/Bangkok */
        zone: string | null
        roles: ('admin' | 'operator' | 'viewer' | 'agent')[]
        people: string[]
        /** where they are told; none: wherever each of them wants to be */
        channels: ('mail' | 'webhook' | 'telegram' | 'line' | 'slack')[]
        is_on: boolean
        /** what it watches for, in a sentence */
        words: string
        /** when it was last looked at */
        looked_at: string | null
        /** what it has found wrong and told of */
        wrong: {
          /** an app id, a provider, or all */
          subject: string
          /** since when */
          since: string
          words: string
        }[]
        /** when it was set */
        updated_at: string
        updated_by: string
      }[]
    }
  }
  'POST /console/api/alert-rules/try': {
    query: Record<string, never>
    body: {
      /** a name, 1 to 60 characters */
      name: string
      /** an agent's app id */
      app_id?: string | null
      /** what it watches for */
      kind:
        | 'payout_unknown'
        | 'lane_probing'
        | 'callbacks_failing'
        | 'success_below'
        | 'balance_below'
        | 'proof_red'
        | 'breaks'
        | 'nothing_for'
      /** minutes, a number, per cent, or an amount, as the kind has it */
      threshold?: string | null
      /** orders that ended in the last so many */
      window_minutes?: number | null
      /** of fewer nothing is said */
      min_orders?: number | null
      /** deposit or withdraw; null: both */
      order_kind?: 'deposit' | 'withdraw' | null
      /** a provider or a bank account; null: each */
      provider?: string | null
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency?:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
        | null
      /** such as 08:00 */
      hours_from?: string | null
      /** such as 08:00 */
      hours_to?: string | null
      /** a time zone such as Asia/Bangkok */
      zone?: string | null
      roles: ('admin' | 'operator' | 'viewer' | 'agent')[]
      people: string[]
      /** where they are told; none: wherever each of them wants to be */
      channels: ('mail' | 'webhook' | 'telegram' | 'line' | 'slack')[]
      is_on: boolean
    }
    answer: {
      /** what it would say now */
      now: string[]
      /** how often it would have fired in the last 7 days; null where that is not known */
      fired: number | null
    }
  }
  'POST /console/api/alerts-sent/resend': {
    query: Record<string, never>
    body: {
      /** the id of an alert */
      alert_id: string
      /** who was told */
      user_id: string
      /** one of mail, webhook, telegram, line, slack */
      channel: 'mail' | 'webhook' | 'telegram' | 'line' | 'slack'
    }
    answer: Record<string, never>
  }
  'POST /console/api/approvals/{id}/answer': {
    query: Record<string, never>
    body: {
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** what the action answered; it is not kept */
      answer: unknown
    }
  }
  'POST /console/api/approvals/{id}/approve': {
    query: Record<string, never>
    body: {
      /** the digest as it was shown */
      digest: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      /** as in the audit log */
      action: string
      /** the action in words */
      title: string
      subject: {
        kind: string
        id: string
      }
      /** the agent concerned */
      app_id: string | null
      agent_name: string | null
      /** the amount that moves */
      amount: number | null
      currency: string | null
      /** what would change, as it was when it was proposed */
      before: unknown
      /** what it would be */
      after: unknown
      /** of an open one alone: what helps to decide, as it is now and would be then, such as a balance or a picture */
      beside: {
        before: unknown
        after: unknown
      } | null
      reason: string | null
      /** an address, or the command line */
      proposed_by: string
      /** when it was proposed */
      proposed_at: string
      /** until when somebody can approve it */
      expires_at: string
      /** approved: its action is under way, or was interrupted */
      state: 'open' | 'approved' | 'done' | 'refused' | 'declined' | 'withdrawn' | 'expired'
      /** of what is approved; send it to approve */
      digest: string
      /** I proposed it */
      own: boolean
      may_approve: boolean
      /** why I may not approve it */
      why_not: string | null
      decided_by: string | null
      /** when it was decided on */
      decided_at: string | null
      decision_reason: string | null
      problem: {
        code: string
        detail: string
      } | null
      /** a secret waits for me, to be shown once */
      has_answer: boolean
    }
  }
  'POST /console/api/approvals/{id}/decline': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      /** as in the audit log */
      action: string
      /** the action in words */
      title: string
      subject: {
        kind: string
        id: string
      }
      /** the agent concerned */
      app_id: string | null
      agent_name: string | null
      /** the amount that moves */
      amount: number | null
      currency: string | null
      /** what would change, as it was when it was proposed */
      before: unknown
      /** what it would be */
      after: unknown
      /** of an open one alone: what helps to decide, as it is now and would be then, such as a balance or a picture */
      beside: {
        before: unknown
        after: unknown
      } | null
      reason: string | null
      /** an address, or the command line */
      proposed_by: string
      /** when it was proposed */
      proposed_at: string
      /** until when somebody can approve it */
      expires_at: string
      /** approved: its action is under way, or was interrupted */
      state: 'open' | 'approved' | 'done' | 'refused' | 'declined' | 'withdrawn' | 'expired'
      /** of what is approved; send it to approve */
      digest: string
      /** I proposed it */
      own: boolean
      may_approve: boolean
      /** why I may not approve it */
      why_not: string | null
      decided_by: string | null
      /** when it was decided on */
      decided_at: string | null
      decision_reason: string | null
      problem: {
        code: string
        detail: string
      } | null
      /** a secret waits for me, to be shown once */
      has_answer: boolean
    }
  }
  'POST /console/api/approvals/{id}/withdraw': {
    query: Record<string, never>
    body: undefined
    answer: {
      id: string
      /** as in the audit log */
      action: string
      /** the action in words */
      title: string
      subject: {
        kind: string
        id: string
      }
      /** the agent concerned */
      app_id: string | null
      agent_name: string | null
      /** the amount that moves */
      amount: number | null
      currency: string | null
      /** what would change, as it was when it was proposed */
      before: unknown
      /** what it would be */
      after: unknown
      /** of an open one alone: what helps to decide, as it is now and would be then, such as a balance or a picture */
      beside: {
        before: unknown
        after: unknown
      } | null
      reason: string | null
      /** an address, or the command line */
      proposed_by: string
      /** when it was proposed */
      proposed_at: string
      /** until when somebody can approve it */
      expires_at: string
      /** approved: its action is under way, or was interrupted */
      state: 'open' | 'approved' | 'done' | 'refused' | 'declined' | 'withdrawn' | 'expired'
      /** of what is approved; send it to approve */
      digest: string
      /** I proposed it */
      own: boolean
      may_approve: boolean
      /** why I may not approve it */
      why_not: string | null
      decided_by: string | null
      /** when it was decided on */
      decided_at: string | null
      decision_reason: string | null
      problem: {
        code: string
        detail: string
      } | null
      /** a secret waits for me, to be shown once */
      has_answer: boolean
    }
  }
  'POST /console/api/bank-accounts': {
    query: Record<string, never>
    body: {
      /** 1 to 32 small letters, digits and dashes */
      name: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** the bank's code, or empty */
      bank: string
      /** its number or IBAN */
      account_no: string
      /** whose account it is */
      account_name: string
      /** where the QR code needs it */
      city: string | null
      /** street;no;post code;town;country, where the QR code needs it */
      address: string | null
      /** one of promptpay-mobile, promptpay-id, promptpay-bill, vietqr, pix, paynow, epc, swiss, upi, template, none */
      qr_kind:
        | 'promptpay-mobile'
        | 'promptpay-id'
        | 'promptpay-bill'
        | 'vietqr'
        | 'pix'
        | 'paynow'
        | 'epc'
        | 'swiss'
        | 'upi'
        | 'template'
        | 'none'
      /** what the kind needs to know */
      qr_value: string | null
      /** code, amount or code+amount */
      match?: 'code' | 'amount' | 'code+amount'
      /** two characters that payment codes begin with, or digits */
      code_form?: string
      /** a whole number from 1 to 9999 */
      surplus_steps?: number
      /** a whole number from 0 to 720 */
      hold_hours?: number
      /** an amount; null for any */
      day_limit: string | null
      /** an amount; 0 believes no file that a person brings alone */
      file_limit: string
      /** the largest payment that a push with a token is believed */
      token_limit?: string
      /** how much in a day pushes with a token are believed */
      token_day_limit?: string
      /** what the rail takes out of each payment before it arrives */
      expected_deduction?: string
      /** how what the sender of the feed writes is read, as JSON */
      feed_profile?: string | null
      /** file: withdrawals leave by payment files */
      payout?: 'none' | 'file'
      /** the format of payment files that its bank takes */
      payout_format?: string | null
      /** how names are written in its files: latin letters, kept as they are, or as the format usually does */
      payout_characters?: 'format' | 'latin' | 'kept'
      /** times */
      payout_cutoffs?: string[]
      /** days */
      payout_holidays?: string[]
      /** minutes before each cut-off, from 1 to 1440, at which a draft is made by itself */
      payout_draft_before?: number | null
      /** the most in one file; null for any amount */
      payout_file_limit?: string | null
      /** the most in files approved in a day; null for any amount */
      payout_day_limit?: string | null
      /** whether the bank's answer that it paid counts, or only the debit it books */
      payout_trusts_paid?: boolean
      /** its bank's server for files; null for none */
      sftp_host?: string | null
      /** from 1 to 65535 */
      sftp_port?: number | null
      /** who signs in there */
      sftp_user?: string | null
      /** the fingerprint of the key that the server must have; several by commas */
      sftp_host_key?: string | null
      /** where payment files are put */
      sftp_put_folder?: string | null
      /** where answers and statements are fetched */
      sftp_get_folder?: string | null
      /** a new private key; it is never shown. Left out: the one that is set */
      sftp_key?: string | null
      /** signed, token or none */
      feed: 'signed' | 'token' | 'none'
      /** a time zone such as Asia/Bangkok */
      zone?: string
      /** how its CSV files are read, as JSON */
      csv_profile: string | null
      /** of its MT940 and OFX files, such as cp850; null for the usual one */
      encoding: string | null
      /** account numbers */
      own_accounts: string[]
      /** false: it is off at first */
      route: boolean
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      account: {
        name: string
        /** unconfirmed: it takes no deposits until another person confirms it */
        state: 'on' | 'draining' | 'off' | 'unconfirmed'
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        bank: string
        account_no: string
        account_name: string
        city: string | null
        address: string | null
        /** one of promptpay-mobile, promptpay-id, promptpay-bill, vietqr, pix, paynow, epc, swiss, upi, template, none */
        qr_kind:
          | 'promptpay-mobile'
          | 'promptpay-id'
          | 'promptpay-bill'
          | 'vietqr'
          | 'pix'
          | 'paynow'
          | 'epc'
          | 'swiss'
          | 'upi'
          | 'template'
          | 'none'
        qr_value: string | null
        /** code, amount or code+amount */
        match: 'code' | 'amount' | 'code+amount'
        code_form: string
        surplus_steps: number
        hold_hours: number
        day_limit: string | null
        file_limit: string
        expected_deduction: string
        /** signed, token or none */
        feed: 'signed' | 'token' | 'none'
        token_limit: string
        token_day_limit: string
        feed_profile: string | null
        /** file: withdrawals leave by payment files */
        payout: 'none' | 'file'
        payout_format: string | null
        /** how names are written in its files: latin letters, kept as they are, or as the format usually does */
        payout_characters: 'format' | 'latin' | 'kept'
        payout_cutoffs: string[]
        payout_holidays: string[]
        payout_draft_before: number | null
        payout_file_limit: string | null
        payout_day_limit: string | null
        payout_trusts_paid: boolean
        sftp_host: string | null
        sftp_port: number | null
        sftp_user: string | null
        sftp_host_key: string | null
        sftp_put_folder: string | null
        sftp_get_folder: string | null
        sftp_state: {
          /** why files do not come or go */
          fault: string | null
          /** since when it is so */
          since: string
          /** of the last visit */
          looked_at: string
        } | null
        /** where the bank reports to */
        feed_url: string | null
        zone: string
        csv_profile: string | null
        encoding: string | null
        own_accounts: string[]
        former_numbers: string[]
        /** when it was made */
        created_at: string
        created_by: string
        /** what was changed last, by commas */
        changed: string | null
        /** when */
        changed_at: string | null
        changed_by: string | null
        /** it takes deposits since */
        confirmed_at: string | null
        confirmed_by: string | null
        test_payment: {
          /** what was paid */
          amount: number
          /** when */
          paid_at: string
          paid_by: string
        } | null
        /** version of the account as read */
        version: number
        /** deposits whose payment is awaited */
        expected: number
        places: {
          /** unique amounts in use, of the amount most asked for */
          used: number
          all: number
          /** the amount most asked for */
          amount: number
        } | null
        /** when the bank last told something new */
        last_report_at: string | null
        last_day: {
          day: string
          /** green, amber or red */
          state: 'green' | 'amber' | 'red'
        } | null
        /** movements that wait for a second person */
        unconfirmed: number
        /** movements that wait for an explanation */
        unexplained: number
      }
      /** shown only here */
      feed_secret: string | null
    }
  }
  'POST /console/api/bank-accounts/preview': {
    query: Record<string, never>
    body: {
      /** 1 to 32 small letters, digits and dashes */
      name: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** the bank's code, or empty */
      bank: string
      /** its number or IBAN */
      account_no: string
      /** whose account it is */
      account_name: string
      /** where the QR code needs it */
      city: string | null
      /** street;no;post code;town;country, where the QR code needs it */
      address: string | null
      /** one of promptpay-mobile, promptpay-id, promptpay-bill, vietqr, pix, paynow, epc, swiss, upi, template, none */
      qr_kind:
        | 'promptpay-mobile'
        | 'promptpay-id'
        | 'promptpay-bill'
        | 'vietqr'
        | 'pix'
        | 'paynow'
        | 'epc'
        | 'swiss'
        | 'upi'
        | 'template'
        | 'none'
      /** what the kind needs to know */
      qr_value: string | null
      /** code, amount or code+amount */
      match?: 'code' | 'amount' | 'code+amount'
      /** two characters that payment codes begin with, or digits */
      code_form?: string
      /** a whole number from 1 to 9999 */
      surplus_steps?: number
      /** a whole number from 0 to 720 */
      hold_hours?: number
      /** an amount; null for any */
      day_limit: string | null
      /** an amount; 0 believes no file that a person brings alone */
      file_limit: string
      /** the largest payment that a push with a token is believed */
      token_limit?: string
      /** how much in a day pushes with a token are believed */
      token_day_limit?: string
      /** what the rail takes out of each payment before it arrives */
      expected_deduction?: string
      /** how what the sender of the feed writes is read, as JSON */
      feed_profile?: string | null
      /** file: withdrawals leave by payment files */
      payout?: 'none' | 'file'
      /** the format of payment files that its bank takes */
      payout_format?: string | null
      /** how names are written in its files: latin letters, kept as they are, or as the format usually does */
      payout_characters?: 'format' | 'latin' | 'kept'
      /** times */
      payout_cutoffs?: string[]
      /** days */
      payout_holidays?: string[]
      /** minutes before each cut-off, from 1 to 1440, at which a draft is made by itself */
      payout_draft_before?: number | null
      /** the most in one file; null for any amount */
      payout_file_limit?: string | null
      /** the most in files approved in a day; null for any amount */
      payout_day_limit?: string | null
      /** whether the bank's answer that it paid counts, or only the debit it books */
      payout_trusts_paid?: boolean
      /** its bank's server for files; null for none */
      sftp_host?: string | null
      /** from 1 to 65535 */
      sftp_port?: number | null
      /** who signs in there */
      sftp_user?: string | null
      /** the fingerprint of the key that the server must have; several by commas */
      sftp_host_key?: string | null
      /** where payment files are put */
      sftp_put_folder?: string | null
      /** where answers and statements are fetched */
      sftp_get_folder?: string | null
      /** a new private key; it is never shown. Left out: the one that is set */
      sftp_key?: string | null
      /** signed, token or none */
      feed: 'signed' | 'token' | 'none'
      /** a time zone such as Asia/Bangkok */
      zone?: string
      /** how its CSV files are read, as JSON */
      csv_profile: string | null
      /** of its MT940 and OFX files, such as cp850; null for the usual one */
      encoding: string | null
      /** account numbers */
      own_accounts: string[]
      sample: {
        /** the file in base64, at most 16 MiB */
        content: string
      } | null
    }
    answer: {
      errors: {
        field: string
        message: string
      }[]
      warning: string | null
      defaults: {
        /** code, amount or code+amount */
        match: 'code' | 'amount' | 'code+amount'
        code_form: string
        surplus_steps: number
        hold_hours: number
        zone: string
      }
      payer_sees: {
        /** what the sample order asks for */
        amount: number
        /** what is to be paid */
        payable: number
        /** the payment code, where it names the order */
        code: string | null
        qr: {
          text: string
          /** as a data: URL */
          picture: string
        } | null
      } | null
      sample: {
        refused: {
          line: number | null
          /** why the file is refused */
          message: string
        } | null
        format: string | null
        /** entries in the file */
        entries: number
        first: {
          line: number
          day: string
          /** negative if it left */
          amount: number
          /** booked or pending */
          status: 'booked' | 'pending'
          text: string
          payer: {
            account_no: string | null
            name: string | null
            bank: string | null
          }
        }[]
      } | null
    }
  }
  'POST /console/api/bank-accounts/{name}/confirm': {
    query: Record<string, never>
    body: {
      /** version of the account as read */
      version: number
      test_payment?: {
        /** the amount that was paid */
        amount: string
        /** when it was paid */
        paid_at: string
        /** who paid it */
        paid_by: string
      }
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      account: {
        name: string
        /** unconfirmed: it takes no deposits until another person confirms it */
        state: 'on' | 'draining' | 'off' | 'unconfirmed'
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        bank: string
        account_no: string
        account_name: string
        city: string | null
        address: string | null
        /** one of promptpay-mobile, promptpay-id, promptpay-bill, vietqr, pix, paynow, epc, swiss, upi, template, none */
        qr_kind:
          | 'promptpay-mobile'
          | 'promptpay-id'
          | 'promptpay-bill'
          | 'vietqr'
          | 'pix'
          | 'paynow'
          | 'epc'
          | 'swiss'
          | 'upi'
          | 'template'
          | 'none'
        qr_value: string | null
        /** code, amount or code+amount */
        match: 'code' | 'amount' | 'code+amount'
        code_form: string
        surplus_steps: number
        hold_hours: number
        day_limit: string | null
        file_limit: string
        expected_deduction: string
        /** signed, token or none */
        feed: 'signed' | 'token' | 'none'
        token_limit: string
        token_day_limit: string
        feed_profile: string | null
        /** file: withdrawals leave by payment files */
        payout: 'none' | 'file'
        payout_format: string | null
        /** how names are written in its files: latin letters, kept as they are, or as the format usually does */
        payout_characters: 'format' | 'latin' | 'kept'
        payout_cutoffs: string[]
        payout_holidays: string[]
        payout_draft_before: number | null
        payout_file_limit: string | null
        payout_day_limit: string | null
        payout_trusts_paid: boolean
        sftp_host: string | null
        sftp_port: number | null
        sftp_user: string | null
        sftp_host_key: string | null
        sftp_put_folder: string | null
        sftp_get_folder: string | null
        sftp_state: {
          /** why files do not come or go */
          fault: string | null
          /** since when it is so */
          since: string
          /** of the last visit */
          looked_at: string
        } | null
        /** where the bank reports to */
        feed_url: string | null
        zone: string
        csv_profile: string | null
        encoding: string | null
        own_accounts: string[]
        former_numbers: string[]
        /** when it was made */
        created_at: string
        created_by: string
        /** what was changed last, by commas */
        changed: string | null
        /** when */
        changed_at: string | null
        changed_by: string | null
        /** it takes deposits since */
        confirmed_at: string | null
        confirmed_by: string | null
        test_payment: {
          /** what was paid */
          amount: number
          /** when */
          paid_at: string
          paid_by: string
        } | null
        /** version of the account as read */
        version: number
        /** deposits whose payment is awaited */
        expected: number
        places: {
          /** unique amounts in use, of the amount most asked for */
          used: number
          all: number
          /** the amount most asked for */
          amount: number
        } | null
        /** when the bank last told something new */
        last_report_at: string | null
        last_day: {
          day: string
          /** green, amber or red */
          state: 'green' | 'amber' | 'red'
        } | null
        /** movements that wait for a second person */
        unconfirmed: number
        /** movements that wait for an explanation */
        unexplained: number
      }
      /** shown only here */
      feed_secret: string | null
    }
  }
  'POST /console/api/bank-accounts/{name}/days/{day}/sign-off': {
    query: Record<string, never>
    body: {
      /** digest of the day as read */
      digest: string
      /** 3 to 500 characters that say why */
      reason?: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      account: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** the day it is at the bank */
      today: string
      data: {
        day: string
        /** green, amber or red */
        state: 'green' | 'amber' | 'red'
        /** of the statement that ends on it */
        opening: number | null
        /** of the statement that ends on it */
        closing: number | null
        movements: number
        /** its movements, added up */
        amount: number
        breaks: {
          name: string
          /** what is missing or too much */
          amount: number | null
          movement: string | null
          /** where one waits for a decision */
          payment: string | null
          /** what it means and what to do */
          detail: string
        }[]
        /** send it with a sign-off */
        digest: string
        signed_off: {
          by: string
          /** when */
          at: string
          /** green, amber or red */
          state: 'green' | 'amber' | 'red'
          reason: string | null
          /** its movements are still those that were signed off */
          current: boolean
        } | null
      }[]
      next: null
    }
  }
  'POST /console/api/bank-accounts/{name}/feed-secret': {
    query: Record<string, never>
    body: {
      /** version of the account as read */
      version: number
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      account: {
        name: string
        /** unconfirmed: it takes no deposits until another person confirms it */
        state: 'on' | 'draining' | 'off' | 'unconfirmed'
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        bank: string
        account_no: string
        account_name: string
        city: string | null
        address: string | null
        /** one of promptpay-mobile, promptpay-id, promptpay-bill, vietqr, pix, paynow, epc, swiss, upi, template, none */
        qr_kind:
          | 'promptpay-mobile'
          | 'promptpay-id'
          | 'promptpay-bill'
          | 'vietqr'
          | 'pix'
          | 'paynow'
          | 'epc'
          | 'swiss'
          | 'upi'
          | 'template'
          | 'none'
        qr_value: string | null
        /** code, amount or code+amount */
        match: 'code' | 'amount' | 'code+amount'
        code_form: string
        surplus_steps: number
        hold_hours: number
        day_limit: string | null
        file_limit: string
        expected_deduction: string
        /** signed, token or none */
        feed: 'signed' | 'token' | 'none'
        token_limit: string
        token_day_limit: string
        feed_profile: string | null
        /** file: withdrawals leave by payment files */
        payout: 'none' | 'file'
        payout_format: string | null
        /** how names are written in its files: latin letters, kept as they are, or as the format usually does */
        payout_characters: 'format' | 'latin' | 'kept'
        payout_cutoffs: string[]
        payout_holidays: string[]
        payout_draft_before: number | null
        payout_file_limit: string | null
        payout_day_limit: string | null
        payout_trusts_paid: boolean
        sftp_host: string | null
        sftp_port: number | null
        sftp_user: string | null
        sftp_host_key: string | null
        sftp_put_folder: string | null
        sftp_get_folder: string | null
        sftp_state: {
          /** why files do not come or go */
          fault: string | null
          /** since when it is so */
          since: string
          /** of the last visit */
          looked_at: string
        } | null
        /** where the bank reports to */
        feed_url: string | null
        zone: string
        csv_profile: string | null
        encoding: string | null
        own_accounts: string[]
        former_numbers: string[]
        /** when it was made */
        created_at: string
        created_by: string
        /** what was changed last, by commas */
        changed: string | null
        /** when */
        changed_at: string | null
        changed_by: string | null
        /** it takes deposits since */
        confirmed_at: string | null
        confirmed_by: string | null
        test_payment: {
          /** what was paid */
          amount: number
          /** when */
          paid_at: string
          paid_by: string
        } | null
        /** version of the account as read */
        version: number
        /** deposits whose payment is awaited */
        expected: number
        places: {
          /** unique amounts in use, of the amount most asked for */
          used: number
          all: number
          /** the amount most asked for */
          amount: number
        } | null
        /** when the bank last told something new */
        last_report_at: string | null
        last_day: {
          day: string
          /** green, amber or red */
          state: 'green' | 'amber' | 'red'
        } | null
        /** movements that wait for a second person */
        unconfirmed: number
        /** movements that wait for an explanation */
        unexplained: number
      }
      /** shown only here */
      feed_secret: string | null
    }
  }
  'POST /console/api/bank-accounts/{name}/files': {
    query: Record<string, never>
    body: {
      /** the name of the file, at most 255 characters */
      name: string
      /** the file in base64, at most 16 MiB */
      content: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      file_id: string
      /** the same file was imported before */
      repeated: boolean
      statements: number
      entries: number
      pending: number
      /** new ones */
      movements: number
      /** of these, waiting for a second person */
      unconfirmed: number
    }
  }
  'POST /console/api/bank-accounts/{name}/files/preview': {
    query: Record<string, never>
    body: {
      /** the name of the file, at most 255 characters */
      name: string
      /** the file in base64, at most 16 MiB */
      content: string
    }
    answer: {
      refused: {
        line: number | null
        /** why the file is refused */
        message: string
      } | null
      format: string | null
      brought_before: {
        by: string
        /** when */
        at: string
      } | null
      statements: number
      /** booked entries */
      entries: number
      /** entries that the bank has not booked yet */
      pending: number
      /** movements that nobody has reported before */
      added: number
      /** entries about movements that are known */
      known: number
      /** a second person will have to confirm what is new */
      waits: boolean
      movements: {
        line: number | null
        day: string
        /** negative if it left */
        amount: number
        text: string
        payer: {
          account_no: string | null
          name: string | null
          bank: string | null
        }
        /** what it would be taken for */
        would: 'order' | 'nobody' | 'ambiguous' | 'takes_back' | 'unexplained'
        txn_id: string | null
        detail: string
      }[]
      notes: string[]
    }
  }
  'POST /console/api/bank-accounts/{name}/files/{file_id}/confirm': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      movements: number
      /** without signs */
      amount: number
    }
  }
  'POST /console/api/bank-accounts/{name}/movements/{movement_id}/explain': {
    query: Record<string, never>
    body: {
      /** what it was; payout: the payout that it names, and the rest is what the bank charged for it; batch: only the sum of payments that are known by now; never_booked: recorded by hand, and the bank never had it */
      as:
        | 'bank_fee'
        | 'interest'
        | 'own_transfer'
        | 'correction'
        | 'payment_returned'
        | 'batch'
        | 'payout'
        | 'never_booked'
      /** for payment_returned: the movement that brought the payment */
      payment?: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      account: string
      /** where it is a payment */
      payment_id: string | null
      day: string
      /** the time, where the bank tells it */
      booked_at: string | null
      /** negative if it left */
      amount: number
      /** what the rail kept of the payment, or charged for it: the payment is the amount and this */
      deducted: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** the movement's, or that of its payment */
      state: string
      /** what it was */
      explained_by:
        | 'payment'
        | 'payment_taken_back'
        | 'payment_returned'
        | 'bank_fee'
        | 'interest'
        | 'own_transfer'
        | 'correction'
        | 'batch'
        | 'payout'
        | 'payout_returned'
        | 'never_booked'
        | null
      txn_id: string | null
      why: string | null
      detail: string | null
      text: string
      payer: {
        account_no: string | null
        name: string | null
        bank: string | null
      }
      reported_by: string[]
      recorded: {
        by: string
        approved_by: string | null
        /** when it was recorded by hand */
        at: string
        /** the digest of the picture */
        slip: string
        reference: string | null
      } | null
      brought_by: string[]
      files: {
        file_id: string
        name: string
        via: string
        brought_by: string
      }[]
      /** nobody knows yet what it was */
      may_explain: boolean
    }
  }
  'POST /console/api/bank-accounts/{name}/payments': {
    query: Record<string, never>
    body: {
      /** the day on which it was paid, such as 2026-11-16 */
      day: string
      /** what the payer paid, as it is on the slip */
      amount: string
      payer: {
        /** whose account it came from */
        name: string
        /** its number, as far as it is known */
        account_no?: string
        /** the bank of it */
        bank?: string
      }
      /** the digest of a picture that was brought before */
      slip: string
      /** the number that the bank of the payer put on the slip */
      reference?: string
      /** what the payer wrote */
      text?: string
      /** the order that it is for */
      txn_id?: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** it had been reported before, so nothing counts again */
      known: boolean
      movement: {
        id: string
        account: string
        /** where it is a payment */
        payment_id: string | null
        day: string
        /** the time, where the bank tells it */
        booked_at: string | null
        /** negative if it left */
        amount: number
        /** what the rail kept of the payment, or charged for it: the payment is the amount and this */
        deducted: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** the movement's, or that of its payment */
        state: string
        /** what it was */
        explained_by:
          | 'payment'
          | 'payment_taken_back'
          | 'payment_returned'
          | 'bank_fee'
          | 'interest'
          | 'own_transfer'
          | 'correction'
          | 'batch'
          | 'payout'
          | 'payout_returned'
          | 'never_booked'
          | null
        txn_id: string | null
        why: string | null
        detail: string | null
        text: string
        payer: {
          account_no: string | null
          name: string | null
          bank: string | null
        }
        reported_by: string[]
        recorded: {
          by: string
          approved_by: string | null
          /** when it was recorded by hand */
          at: string
          /** the digest of the picture */
          slip: string
          reference: string | null
        } | null
        brought_by: string[]
        files: {
          file_id: string
          name: string
          via: string
          brought_by: string
        }[]
        /** nobody knows yet what it was */
        may_explain: boolean
      }
    }
  }
  'POST /console/api/bank-accounts/{name}/release-payouts': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      account: string
      locked: string[]
    }
  }
  'POST /console/api/books/write-off': {
    query: Record<string, never>
    body: {
      /** positive if the provider has less than the books say */
      amount: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** 1 to 200 printable characters */
      provider: string
      /** 1 to 128 printable characters */
      ref: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** false: this reference was used before */
      changed: boolean
    }
  }
  'POST /console/api/callback-lanes/{app_id}/pause': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** open, probing or paused */
        state: 'open' | 'probing' | 'paused'
        /** bad: probed, or callbacks were given up; warn: some were refused, have no address, or it is paused */
        health: 'good' | 'warn' | 'bad'
        /** why it is probed */
        why: string | null
        /** requests at once */
        width: number
        /** when the next single request may go */
        probe_at: string | null
        /** when it was last let go */
        resumed_at: string | null
        /** callbacks that wait, counted up to 1000 */
        waiting: number
        /** those of them that were sent and not accepted yet */
        failing: number
        /** the outcome that has waited longest among those counted */
        oldest_at: string | null
        /** tried until their time was over, counted up to 1000 */
        given_up: number
        /** not sent any more, because a later state of the order was; counted up to 1000 */
        superseded: number
        /** that have nowhere to go, counted up to 1000 */
        no_address: number
      }[]
    }
  }
  'POST /console/api/callback-lanes/{app_id}/resume': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** open, probing or paused */
        state: 'open' | 'probing' | 'paused'
        /** bad: probed, or callbacks were given up; warn: some were refused, have no address, or it is paused */
        health: 'good' | 'warn' | 'bad'
        /** why it is probed */
        why: string | null
        /** requests at once */
        width: number
        /** when the next single request may go */
        probe_at: string | null
        /** when it was last let go */
        resumed_at: string | null
        /** callbacks that wait, counted up to 1000 */
        waiting: number
        /** those of them that were sent and not accepted yet */
        failing: number
        /** the outcome that has waited longest among those counted */
        oldest_at: string | null
        /** tried until their time was over, counted up to 1000 */
        given_up: number
        /** not sent any more, because a later state of the order was; counted up to 1000 */
        superseded: number
        /** that have nowhere to go, counted up to 1000 */
        no_address: number
      }[]
    }
  }
  'POST /console/api/callbacks/replay': {
    query: Record<string, never>
    body: {
      /** an agent's app id */
      agent?: string
      /** an ISO 8601 time with zone; outcomes of then or later */
      failed_since: string
      /** 3 to 500 characters that say why */
      reason: string
    }
    answer: {
      /** callbacks that go out again */
      resent: number
      /** callbacks that stay as they are, because a later state of their order has gone out */
      left_out: number
      agents: {
        /** an agent's app id */
        app_id: string
        resent: number
        left_out: number
      }[]
    }
  }
  'POST /console/api/callbacks/{app_id}/{seq}/resend': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
    }
    answer: {
      /** an agent's app id */
      app_id: string
      /** a number of the journal */
      seq: number
      /** waiting: it goes out in a moment */
      delivery:
        | 'waiting'
        | 'sending'
        | 'delivered'
        | 'exhausted'
        | 'no_address'
        | 'superseded'
        | 'paused'
    }
  }
  'POST /console/api/connectors': {
    query: Record<string, never>
    body: {
      /** 2 to 32 small letters, digits and dashes, beginning with a letter */
      name: string
      /** the document, as JSON text */
      document: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      name: string
      version: number
      /** false: this document was added before */
      is_new: boolean
    }
  }
  'POST /console/api/connectors/check': {
    query: Record<string, never>
    body: {
      /** the document, as JSON text */
      document: string
    }
    answer: {
      faults: {
        /** a JSON Pointer; empty: the document as a whole */
        at: string
        says: string
      }[]
      /** what a document without faults does */
      found: {
        company: string
        source: string | null
        currencies: (
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        )[]
        deposits: boolean
        payouts: boolean
        notices: boolean
        account: string | null
        limits: {
          /** for each process */
          calls_at_once: number
          /** for each process */
          calls_per_second: number
          timeout_ms: number
        }
        secrets: {
          name: string
          found: string
        }[]
      } | null
    }
  }
  'POST /console/api/connectors/{name}/samples': {
    query: Record<string, never>
    body: {
      /** a version */
      version?: number
      /** samples, as JSON text */
      samples: string
    }
    answer: {
      version: number
      passed: boolean
      /** what the samples do not show */
      missing: string[]
      results: {
        name: string
        call: string
        ok: boolean
        expected: string[]
        tried: {
          /** where the rule stands that fits */
          rule: string | null
          rule_name: string | null
          /** what would happen */
          got: string[]
          /** why nothing would */
          fault: string | null
        }[]
      }[]
    }
  }
  'POST /console/api/connectors/{name}/secrets': {
    query: Record<string, never>
    body: {
      /** the name of a secret in the document */
      secret: string
      /** the secret itself */
      value: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      secret: string
      n: number
    }
  }
  'POST /console/api/connectors/{name}/try': {
    query: Record<string, never>
    body: {
      /** a version */
      version?: number
      /** expectDeposit, askDeposit, submitPayout, askPayout, notice */
      call: 'expectDeposit' | 'askDeposit' | 'submitPayout' | 'askPayout' | 'notice'
      /** a status from 200 to 599 */
      status?: number
      /** an answer or a notice, as it came */
      body: string
      /** a notice's headers, one on a line: its signature is checked then */
      headers?: string
      /** the IP address that a notice came from */
      address?: string
      /** the company's own id of what was asked about */
      their_id?: string
      /** what was asked about */
      reference?: string
      /** decimal text */
      amount?: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency?:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
    }
    answer: {
      version: number
      /** what was not given, so that what the answer repeats of it was taken for right */
      assumed: string[]
      /** genuine, or why it is not; null: it was not checked */
      signature: string | null
      tried: {
        /** where the rule stands that fits */
        rule: string | null
        rule_name: string | null
        /** what would happen */
        got: string[]
        /** why nothing would */
        fault: string | null
      }[]
    }
  }
  'POST /console/api/connectors/{name}/use': {
    query: Record<string, never>
    body: {
      /** a version */
      version: number
      /** the number of the use as read */
      use: number
      /** the number of each secret that the version uses */
      secrets: Record<string, unknown>
      /** whether the secrets are of the same account at the company as those before; required if a secret of calls changes */
      same_account?: boolean
      /** no notice is taken any more that is signed with one before */
      former_void?: boolean
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      name: string
      version: number
      use: number
    }
  }
  'POST /console/api/invitations/accept': {
    query: Record<string, never>
    body: {
      /** what the link has after # */
      token: string
      /** an email address, of the first admin */
      email?: string
      /** a password of 12 to 256 characters */
      password: string
      /** the code the authenticator shows */
      code: string
    }
    answer: {
      user: {
        id: string
        email: string
        /** one of admin, operator, viewer, agent */
        role: 'admin' | 'operator' | 'viewer' | 'agent'
        /** the agent, for a user of one */
        app_id: string | null
        agent_name: string | null
      }
      permissions: string[]
      /** for an operator who sees the console as the users of an agent do */
      view: {
        /** when this ends by itself */
        until: string | null
      } | null
      mode: 'sandbox' | 'live'
      /** the zone in which the service counts its days */
      time_zone: string
      preferences: {
        /** the zone in which I read times; null: the service's */
        time_zone: string | null
        /** in which I read the console, such as th; null: the browser's */
        language: string | null
      }
      version: string
      /** the time of the service */
      now: string
    }
  }
  'POST /console/api/invitations/open': {
    query: Record<string, never>
    body: {
      /** what the link has after # */
      token: string
    }
    answer: {
      /** null for the first admin, who sends one */
      email: string | null
      /** one of admin, operator, viewer, agent */
      role: 'admin' | 'operator' | 'viewer' | 'agent'
      /** until when the link works */
      expires_at: string
      totp: {
        /** base 32, for typing */
        secret: string
        /** otpauth: */
        uri: string
        /** a data: URL of the QR code as PNG */
        qrcode: string
      }
    }
  }
  'POST /console/api/limits/remove': {
    query: Record<string, never>
    body: {
      /** an agent's app id */
      app_id: string | null
      /** 2 to 40 small letters, digits and hyphens */
      name: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        /** null: each agent by itself */
        app_id: string | null
        /** 2 to 40 small letters, digits and hyphens */
        name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** amount or orders: at most so much; new_account: an account that was never paid before; blocked, allowed: a list */
        measure: 'amount' | 'orders' | 'new_account' | 'blocked' | 'allowed'
        /** whose orders are added up */
        per: 'agent' | 'user' | 'account' | null
        /** over which time, in the time zone of the service */
        period: 'order' | 'hour' | 'day' | 'month' | null
        /** an amount in decimals, or a number of orders */
        most: string | null
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        /** how long it waits, 1 to 720 */
        hours: number | null
        /** what the list is of */
        field: 'account' | 'name' | 'bank' | 'user' | null
        /** what becomes of an order that goes beyond it */
        outcome: 'refuse' | 'hold' | 'wait' | 'note'
        /** what is on the list; an account as number or as bank:number */
        values: string[]
        /** the rule in a sentence */
        words: string
        /** orders of before it are still being counted: until then it knows only a part */
        counting: boolean
        /** when what is used now frees */
        frees_at: string | null
        /** who uses most of it now, at most five */
        used: {
          app_id: string
          /** the user, or bank:account; masked for viewers */
          subject: string
          /** of the limit, now */
          used: string
          /** of the limit, 1 is all */
          share: number
        }[]
        /** when it was set */
        updated_at: string
        updated_by: string
      }[]
    }
  }
  'POST /console/api/limits/try': {
    query: Record<string, never>
    body: {
      /** an agent's app id */
      app_id: string | null
      /** 2 to 40 small letters, digits and hyphens */
      name: string
      /** deposit or withdraw */
      kind: 'deposit' | 'withdraw'
      /** amount or orders: at most so much; new_account: an account that was never paid before; blocked, allowed: a list */
      measure: 'amount' | 'orders' | 'new_account' | 'blocked' | 'allowed'
      /** whose orders are added up */
      per?: 'agent' | 'user' | 'account' | null
      /** over which time, in the time zone of the service */
      period?: 'order' | 'hour' | 'day' | 'month' | null
      /** an amount in decimals, or a number of orders */
      most?: string | null
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency?:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
        | null
      /** how long it waits, 1 to 720 */
      hours?: number
      /** what the list is of */
      field?: 'account' | 'name' | 'bank' | 'user' | null
      /** what becomes of an order that goes beyond it */
      outcome: 'refuse' | 'hold' | 'wait' | 'note'
      /** what is on the list; an account as number or as bank:number */
      values?: string[]
    }
    answer: {
      /** orders from then on were looked at */
      from: string
      /** now */
      to: string
      /** how many orders were looked at */
      orders: number
      /** whether these are all of the month */
      whole: boolean
      /** how many of them go beyond the rule */
      hits: number
      /** what these are worth, in decimals; null if in several currencies */
      amount: string | null
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
        | null
      /** agents whose orders go beyond it, at most 100, those with most of them first */
      agents: {
        app_id: string
        orders: number
        hits: number
        amount: string
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
      }[]
      /** the first 20 */
      first: {
        txn_id: string
        /** when it was created */
        at: string
        amount: string
        /** what the rule says about it */
        words: string
      }[]
    }
  }
  'POST /console/api/look-around': {
    query: Record<string, never>
    body: {
      /** what the link has after # */
      token: string
    }
    answer: {
      user: {
        id: string
        email: string
        /** one of admin, operator, viewer, agent */
        role: 'admin' | 'operator' | 'viewer' | 'agent'
        /** the agent, for a user of one */
        app_id: string | null
        agent_name: string | null
      }
      permissions: string[]
      /** for an operator who sees the console as the users of an agent do */
      view: {
        /** when this ends by itself */
        until: string | null
      } | null
      mode: 'sandbox' | 'live'
      /** the zone in which the service counts its days */
      time_zone: string
      preferences: {
        /** the zone in which I read times; null: the service's */
        time_zone: string | null
        /** in which I read the console, such as th; null: the browser's */
        language: string | null
      }
      version: string
      /** the time of the service */
      now: string
    }
  }
  'POST /console/api/me/alerts/channels/remove': {
    query: Record<string, never>
    body: {
      /** one of webhook, telegram, line, slack */
      channel: 'webhook' | 'telegram' | 'line' | 'slack'
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: Record<string, never>
  }
  'POST /console/api/me/alerts/test': {
    query: Record<string, never>
    body: undefined
    answer: Record<string, never>
  }
  'POST /console/api/me/passkeys': {
    query: Record<string, never>
    body: {
      /** what you call it */
      name: string
      /** the browser's answer, as JSON text */
      answer: string
    }
    answer: Record<string, never>
  }
  'POST /console/api/me/passkeys/challenge': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** for the browser: a PublicKeyCredential…OptionsJSON */
      options: unknown
    }
  }
  'POST /console/api/me/passkeys/options': {
    query: Record<string, never>
    body: {
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** for the browser: a PublicKeyCredential…OptionsJSON */
      options: unknown
    }
  }
  'POST /console/api/me/passkeys/prove': {
    query: Record<string, never>
    body: {
      /** the browser's answer, as JSON text */
      answer: string
    }
    answer: {
      code: string
    }
  }
  'POST /console/api/me/passkeys/remove': {
    query: Record<string, never>
    body: {
      id: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: Record<string, never>
  }
  'POST /console/api/me/password': {
    query: Record<string, never>
    body: {
      /** a password of 12 to 256 characters */
      current_password: string
      /** a password of 12 to 256 characters */
      password: string
      /** true: my passkeys stay; otherwise they are removed */
      keep_passkeys?: boolean
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: Record<string, never>
  }
  'POST /console/api/me/sessions/end-others': {
    query: Record<string, never>
    body: undefined
    answer: Record<string, never>
  }
  'POST /console/api/notice-events/close': {
    query: Record<string, never>
    body: {
      /** the provider that reported it */
      provider: string
      /** its id in the books */
      event_id: string
      /** close all of the same unknown kind, of which there are as many */
      alike?: number
      /** 1 to 1000 printable characters */
      evidence: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** the oldest first, at most 200 */
      data: {
        /** the provider that reported it */
        provider: string
        /** its id in the books */
        event_id: string
        /** the order that it names, if it names one */
        txn_id: string | null
        /** what the provider reported, in words */
        words: string
        /** why the service could not act on it yet */
        detail: string | null
        /** when it first arrived */
        received_at: string
        /** how often the service has tried */
        tries: number
        /** false for reported money, which is never closed */
        can_close: boolean
        /** how many were not understood for the same reason; only the oldest is listed */
        alike: number
      }[]
    }
  }
  'POST /console/api/open-items/{item_id}/assign': {
    query: Record<string, never>
    body: {
      /** an address of a user */
      assignee: string | null
      /** who looked into it when it was read, null for nobody; refused where that has changed */
      instead_of?: string | null
    }
    answer: {
      item: {
        /** its kind and the reference of the payout */
        item_id: string
        /** what contradicts what */
        kind: 'paid_after_failed' | 'paid_twice' | 'failed_after_paid' | 'refunded_and_taken_back'
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the withdrawal */
        txn_id: string
        /** who said it */
        provider: string
        /** what the provider knows the payout by */
        reference: string
        /** what the payout is about */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** the state that its word would lead to */
        provider_said: 'PAID' | 'REVERT' | 'FAILED' | 'CANCEL'
        /** what the order was when it was said */
        order_status: string
        /** who had the order then */
        order_provider: string | null
        /** both sides, in words */
        words: string
        /** when it was first said */
        opened_at: string
        /** when it was closed */
        closed_at: string | null
        /** order_paid: its order is PAID by this payout after all; looked_into: by a person otherwise */
        resolution: 'order_paid' | 'looked_into' | null
        /** the address of who closed it */
        closed_by: string | null
        /** what it was closed on */
        evidence: string | null
        /** write_off: the house bears it; charge_agent: the agent does; received_back: it is back, and what was booked is booked back */
        booked_as: 'write_off' | 'charge_agent' | 'received_back' | null
        /** the address of who looks into it */
        assignee: string | null
      }
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
      }
      /** what can be done about it, in words */
      next: string
      /** how what left can be booked; none if it need not be */
      bookings: ('write_off' | 'charge_agent' | 'received_back')[]
      /** oldest first */
      notes: {
        /** when */
        at: string
        /** the address of who wrote it */
        by: string
        /** who was to look into it from then on */
        assignee: string | null
        note: string | null
      }[]
    }
  }
  'POST /console/api/open-items/{item_id}/book': {
    query: Record<string, never>
    body: {
      /** write_off: the house bears it; charge_agent: the agent does; received_back: it is back, and what was booked is booked back */
      as: 'write_off' | 'charge_agent' | 'received_back'
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      item: {
        /** its kind and the reference of the payout */
        item_id: string
        /** what contradicts what */
        kind: 'paid_after_failed' | 'paid_twice' | 'failed_after_paid' | 'refunded_and_taken_back'
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the withdrawal */
        txn_id: string
        /** who said it */
        provider: string
        /** what the provider knows the payout by */
        reference: string
        /** what the payout is about */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** the state that its word would lead to */
        provider_said: 'PAID' | 'REVERT' | 'FAILED' | 'CANCEL'
        /** what the order was when it was said */
        order_status: string
        /** who had the order then */
        order_provider: string | null
        /** both sides, in words */
        words: string
        /** when it was first said */
        opened_at: string
        /** when it was closed */
        closed_at: string | null
        /** order_paid: its order is PAID by this payout after all; looked_into: by a person otherwise */
        resolution: 'order_paid' | 'looked_into' | null
        /** the address of who closed it */
        closed_by: string | null
        /** what it was closed on */
        evidence: string | null
        /** write_off: the house bears it; charge_agent: the agent does; received_back: it is back, and what was booked is booked back */
        booked_as: 'write_off' | 'charge_agent' | 'received_back' | null
        /** the address of who looks into it */
        assignee: string | null
      }
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
      }
      /** what can be done about it, in words */
      next: string
      /** how what left can be booked; none if it need not be */
      bookings: ('write_off' | 'charge_agent' | 'received_back')[]
      /** oldest first */
      notes: {
        /** when */
        at: string
        /** the address of who wrote it */
        by: string
        /** who was to look into it from then on */
        assignee: string | null
        note: string | null
      }[]
    }
  }
  'POST /console/api/open-items/{item_id}/close': {
    query: Record<string, never>
    body: {
      /** 1 to 1000 printable characters */
      evidence?: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      item: {
        /** its kind and the reference of the payout */
        item_id: string
        /** what contradicts what */
        kind: 'paid_after_failed' | 'paid_twice' | 'failed_after_paid' | 'refunded_and_taken_back'
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the withdrawal */
        txn_id: string
        /** who said it */
        provider: string
        /** what the provider knows the payout by */
        reference: string
        /** what the payout is about */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** the state that its word would lead to */
        provider_said: 'PAID' | 'REVERT' | 'FAILED' | 'CANCEL'
        /** what the order was when it was said */
        order_status: string
        /** who had the order then */
        order_provider: string | null
        /** both sides, in words */
        words: string
        /** when it was first said */
        opened_at: string
        /** when it was closed */
        closed_at: string | null
        /** order_paid: its order is PAID by this payout after all; looked_into: by a person otherwise */
        resolution: 'order_paid' | 'looked_into' | null
        /** the address of who closed it */
        closed_by: string | null
        /** what it was closed on */
        evidence: string | null
        /** write_off: the house bears it; charge_agent: the agent does; received_back: it is back, and what was booked is booked back */
        booked_as: 'write_off' | 'charge_agent' | 'received_back' | null
        /** the address of who looks into it */
        assignee: string | null
      }
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
      }
      /** what can be done about it, in words */
      next: string
      /** how what left can be booked; none if it need not be */
      bookings: ('write_off' | 'charge_agent' | 'received_back')[]
      /** oldest first */
      notes: {
        /** when */
        at: string
        /** the address of who wrote it */
        by: string
        /** who was to look into it from then on */
        assignee: string | null
        note: string | null
      }[]
    }
  }
  'POST /console/api/open-items/{item_id}/note': {
    query: Record<string, never>
    body: {
      /** 1 to 1000 printable characters */
      note: string
    }
    answer: {
      item: {
        /** its kind and the reference of the payout */
        item_id: string
        /** what contradicts what */
        kind: 'paid_after_failed' | 'paid_twice' | 'failed_after_paid' | 'refunded_and_taken_back'
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the withdrawal */
        txn_id: string
        /** who said it */
        provider: string
        /** what the provider knows the payout by */
        reference: string
        /** what the payout is about */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** the state that its word would lead to */
        provider_said: 'PAID' | 'REVERT' | 'FAILED' | 'CANCEL'
        /** what the order was when it was said */
        order_status: string
        /** who had the order then */
        order_provider: string | null
        /** both sides, in words */
        words: string
        /** when it was first said */
        opened_at: string
        /** when it was closed */
        closed_at: string | null
        /** order_paid: its order is PAID by this payout after all; looked_into: by a person otherwise */
        resolution: 'order_paid' | 'looked_into' | null
        /** the address of who closed it */
        closed_by: string | null
        /** what it was closed on */
        evidence: string | null
        /** write_off: the house bears it; charge_agent: the agent does; received_back: it is back, and what was booked is booked back */
        booked_as: 'write_off' | 'charge_agent' | 'received_back' | null
        /** the address of who looks into it */
        assignee: string | null
      }
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
      }
      /** what can be done about it, in words */
      next: string
      /** how what left can be booked; none if it need not be */
      bookings: ('write_off' | 'charge_agent' | 'received_back')[]
      /** oldest first */
      notes: {
        /** when */
        at: string
        /** the address of who wrote it */
        by: string
        /** who was to look into it from then on */
        assignee: string | null
        note: string | null
      }[]
    }
  }
  'POST /console/api/orders-together/cancel': {
    query: Record<string, never>
    body: {
      /** 1 to 100 orders */
      txn_ids: string[]
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        txn_id: string
        /** done or refused */
        outcome: 'done' | 'refused'
        /** why it was refused */
        detail: string | null
      }[]
    }
  }
  'POST /console/api/orders-together/mark': {
    query: Record<string, never>
    body: {
      /** 1 to 100 orders */
      txn_ids: string[]
      /** 1 to 30 small letters, digits and dashes */
      tag?: string
      /** 1 to 30 small letters, digits and dashes */
      untag?: string
      assignee?: string | null
    }
    answer: {
      data: {
        txn_id: string
        /** done or refused */
        outcome: 'done' | 'refused'
        /** why it was refused */
        detail: string | null
      }[]
    }
  }
  'POST /console/api/orders-together/resend': {
    query: Record<string, never>
    body: {
      /** 1 to 100 orders */
      txn_ids: string[]
      /** 3 to 500 characters that say why */
      reason: string
    }
    answer: {
      data: {
        txn_id: string
        /** done or refused */
        outcome: 'done' | 'refused'
        /** why it was refused */
        detail: string | null
      }[]
    }
  }
  'POST /console/api/orders/{txn_id}/cancel': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the version of the order that was looked at; where it has changed, it is refused */
      version?: number
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
        /** counts the changes of the order */
        version: number
        fee_rule: string
        /** the fee of what was really paid */
        paid_fee: number | null
        /** the very text the agent sent */
        extra_params: string | null
        /** when a provider got the withdrawal */
        handed_over_at: string | null
        /** a deposit's payment page */
        link: string | null
        /** the txn_id of the deposit that it refunds */
        refund_of: string | null
        /** what limits said when it was created; null for the agent's own users */
        limits: {
          /** whether it waits for a person or for a time */
          outcome: 'hold' | 'wait' | 'note'
          words: string
          /** when it may be paid out */
          wait_until: string | null
        } | null
        /** what of a deposit can still be refunded */
        refundable: number | null
      }
      /** a deposit's refunds, oldest first */
      refunds: {
        txn_id: string
        ref_id: string
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        /** what it gives back */
        amount: number
        /** when it was made */
        created_at: string
      }[]
      words: {
        /** why it is in this state */
        why: string
        /** what happens next, and what can be done */
        next: string
        /** the same, for other languages */
        why_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
        /** the same, for other languages */
        next_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
      }
      /** each time that it was handed over, as of now; empty for the agent's own users */
      payouts: {
        /** when it was handed over */
        handed_at: string
        provider: string
        reference: string
        /** what is known of it now */
        state: string
        /** how often its provider was asked */
        asks: number
        /** when its provider is asked next */
        ask_at: string | null
        /** what the provider said last */
        said: string | null
        evidence: string | null
      }[]
      /** money that came in, as of now; empty for the agent's own users */
      payments: {
        payment_id: string
        /** what came in */
        amount: number
        /** when it was reported */
        reported_at: string
        /** what has become of it */
        state: string
        /** why it waited for a decision */
        why: string | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        evidence: string | null
      }[]
      /** what providers reported, as of now; empty for the agent's own users */
      notices: {
        /** when it came */
        received_at: string
        provider: string
        event_id: string
        /** what was done with it */
        result: string | null
        detail: string | null
      }[]
      /** as of now, oldest first */
      callbacks: {
        seq: number
        /** the status that it tells */
        status: string
        /** how far its delivery is */
        delivery: string
        attempts: number
        /** when the agent took it */
        delivered_at: string | null
      }[]
      /** oldest first; each entry as it was known then */
      timeline: {
        /** when */
        at: string
        /** one of request, provider, notice, payment, journal, callback, attempt, operator */
        kind:
          | 'request'
          | 'provider'
          | 'notice'
          | 'payment'
          | 'journal'
          | 'callback'
          | 'attempt'
          | 'operator'
        /** what happened, by a code */
        event: string
        /** what happened, in English */
        title: string
        /** what is on record, as it is */
        raw: unknown
      }[]
      actions: {
        /** one of mark-paid, mark-failed, void, take-back, refund, cancel, revert, resend */
        name:
          | 'mark-paid'
          | 'mark-failed'
          | 'void'
          | 'take-back'
          | 'refund'
          | 'cancel'
          | 'revert'
          | 'resend'
        allowed: boolean
        /** in words, where it is not allowed */
        why_not: string | null
        /** the code has to be given again */
        moves_money: boolean
        needs: ('reason' | 'amount' | 'code')[]
      }[]
    }
  }
  'POST /console/api/orders/{txn_id}/mark-failed': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** 1 to 1000 printable characters */
      evidence?: string
      /** the version of the order that was looked at; where it has changed, it is refused */
      version?: number
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
        /** counts the changes of the order */
        version: number
        fee_rule: string
        /** the fee of what was really paid */
        paid_fee: number | null
        /** the very text the agent sent */
        extra_params: string | null
        /** when a provider got the withdrawal */
        handed_over_at: string | null
        /** a deposit's payment page */
        link: string | null
        /** the txn_id of the deposit that it refunds */
        refund_of: string | null
        /** what limits said when it was created; null for the agent's own users */
        limits: {
          /** whether it waits for a person or for a time */
          outcome: 'hold' | 'wait' | 'note'
          words: string
          /** when it may be paid out */
          wait_until: string | null
        } | null
        /** what of a deposit can still be refunded */
        refundable: number | null
      }
      /** a deposit's refunds, oldest first */
      refunds: {
        txn_id: string
        ref_id: string
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        /** what it gives back */
        amount: number
        /** when it was made */
        created_at: string
      }[]
      words: {
        /** why it is in this state */
        why: string
        /** what happens next, and what can be done */
        next: string
        /** the same, for other languages */
        why_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
        /** the same, for other languages */
        next_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
      }
      /** each time that it was handed over, as of now; empty for the agent's own users */
      payouts: {
        /** when it was handed over */
        handed_at: string
        provider: string
        reference: string
        /** what is known of it now */
        state: string
        /** how often its provider was asked */
        asks: number
        /** when its provider is asked next */
        ask_at: string | null
        /** what the provider said last */
        said: string | null
        evidence: string | null
      }[]
      /** money that came in, as of now; empty for the agent's own users */
      payments: {
        payment_id: string
        /** what came in */
        amount: number
        /** when it was reported */
        reported_at: string
        /** what has become of it */
        state: string
        /** why it waited for a decision */
        why: string | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        evidence: string | null
      }[]
      /** what providers reported, as of now; empty for the agent's own users */
      notices: {
        /** when it came */
        received_at: string
        provider: string
        event_id: string
        /** what was done with it */
        result: string | null
        detail: string | null
      }[]
      /** as of now, oldest first */
      callbacks: {
        seq: number
        /** the status that it tells */
        status: string
        /** how far its delivery is */
        delivery: string
        attempts: number
        /** when the agent took it */
        delivered_at: string | null
      }[]
      /** oldest first; each entry as it was known then */
      timeline: {
        /** when */
        at: string
        /** one of request, provider, notice, payment, journal, callback, attempt, operator */
        kind:
          | 'request'
          | 'provider'
          | 'notice'
          | 'payment'
          | 'journal'
          | 'callback'
          | 'attempt'
          | 'operator'
        /** what happened, by a code */
        event: string
        /** what happened, in English */
        title: string
        /** what is on record, as it is */
        raw: unknown
      }[]
      actions: {
        /** one of mark-paid, mark-failed, void, take-back, refund, cancel, revert, resend */
        name:
          | 'mark-paid'
          | 'mark-failed'
          | 'void'
          | 'take-back'
          | 'refund'
          | 'cancel'
          | 'revert'
          | 'resend'
        allowed: boolean
        /** in words, where it is not allowed */
        why_not: string | null
        /** the code has to be given again */
        moves_money: boolean
        needs: ('reason' | 'amount' | 'code')[]
      }[]
    }
  }
  'POST /console/api/orders/{txn_id}/mark-paid': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** 1 to 1000 printable characters */
      evidence?: string
      /** the version of the order that was looked at; where it has changed, it is refused */
      version?: number
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
        /** counts the changes of the order */
        version: number
        fee_rule: string
        /** the fee of what was really paid */
        paid_fee: number | null
        /** the very text the agent sent */
        extra_params: string | null
        /** when a provider got the withdrawal */
        handed_over_at: string | null
        /** a deposit's payment page */
        link: string | null
        /** the txn_id of the deposit that it refunds */
        refund_of: string | null
        /** what limits said when it was created; null for the agent's own users */
        limits: {
          /** whether it waits for a person or for a time */
          outcome: 'hold' | 'wait' | 'note'
          words: string
          /** when it may be paid out */
          wait_until: string | null
        } | null
        /** what of a deposit can still be refunded */
        refundable: number | null
      }
      /** a deposit's refunds, oldest first */
      refunds: {
        txn_id: string
        ref_id: string
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        /** what it gives back */
        amount: number
        /** when it was made */
        created_at: string
      }[]
      words: {
        /** why it is in this state */
        why: string
        /** what happens next, and what can be done */
        next: string
        /** the same, for other languages */
        why_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
        /** the same, for other languages */
        next_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
      }
      /** each time that it was handed over, as of now; empty for the agent's own users */
      payouts: {
        /** when it was handed over */
        handed_at: string
        provider: string
        reference: string
        /** what is known of it now */
        state: string
        /** how often its provider was asked */
        asks: number
        /** when its provider is asked next */
        ask_at: string | null
        /** what the provider said last */
        said: string | null
        evidence: string | null
      }[]
      /** money that came in, as of now; empty for the agent's own users */
      payments: {
        payment_id: string
        /** what came in */
        amount: number
        /** when it was reported */
        reported_at: string
        /** what has become of it */
        state: string
        /** why it waited for a decision */
        why: string | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        evidence: string | null
      }[]
      /** what providers reported, as of now; empty for the agent's own users */
      notices: {
        /** when it came */
        received_at: string
        provider: string
        event_id: string
        /** what was done with it */
        result: string | null
        detail: string | null
      }[]
      /** as of now, oldest first */
      callbacks: {
        seq: number
        /** the status that it tells */
        status: string
        /** how far its delivery is */
        delivery: string
        attempts: number
        /** when the agent took it */
        delivered_at: string | null
      }[]
      /** oldest first; each entry as it was known then */
      timeline: {
        /** when */
        at: string
        /** one of request, provider, notice, payment, journal, callback, attempt, operator */
        kind:
          | 'request'
          | 'provider'
          | 'notice'
          | 'payment'
          | 'journal'
          | 'callback'
          | 'attempt'
          | 'operator'
        /** what happened, by a code */
        event: string
        /** what happened, in English */
        title: string
        /** what is on record, as it is */
        raw: unknown
      }[]
      actions: {
        /** one of mark-paid, mark-failed, void, take-back, refund, cancel, revert, resend */
        name:
          | 'mark-paid'
          | 'mark-failed'
          | 'void'
          | 'take-back'
          | 'refund'
          | 'cancel'
          | 'revert'
          | 'resend'
        allowed: boolean
        /** in words, where it is not allowed */
        why_not: string | null
        /** the code has to be given again */
        moves_money: boolean
        needs: ('reason' | 'amount' | 'code')[]
      }[]
    }
  }
  'POST /console/api/orders/{txn_id}/marks': {
    query: Record<string, never>
    body: {
      /** the order, its user, or the account it names */
      about: 'order' | 'user' | 'account'
      /** 1 to 30 small letters, digits and dashes */
      tag?: string
      /** 1 to 30 small letters, digits and dashes */
      untag?: string
      /** 1 to 1000 printable characters */
      note?: string
      /** who looks into it from now on; null: nobody */
      assignee?: string | null
    }
    answer: {
      data: {
        /** the order, its user, or the account it names */
        about: 'order' | 'user' | 'account'
        /** the id of the order or user, or the account number */
        subject: string
        tags: string[]
        /** an address of a user */
        assignee: string | null
        /** oldest first */
        notes: {
          /** when */
          at: string
          /** the address of who wrote it */
          by: string
          /** an address of a user */
          assignee: string | null
          note: string | null
        }[]
      }[]
    }
  }
  'POST /console/api/orders/{txn_id}/refund': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** what to refund, such as 100 or 99.50 */
      amount: string
      /** always needed: repeated with the same one, the request makes no second refund */
      ref?: string
      /** another account than the payer's: two people decide on it, always */
      to?: {
        /** 4 to 34 letters and digits; spaces and dashes are taken away */
        account_no: string
        /** 1 to 128 printable characters */
        account_name: string
        /** 1 to 32 printable characters */
        bank_code: string
      }
      /** the version of the order that was looked at; where it has changed, it is refused */
      version?: number
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
        /** counts the changes of the order */
        version: number
        fee_rule: string
        /** the fee of what was really paid */
        paid_fee: number | null
        /** the very text the agent sent */
        extra_params: string | null
        /** when a provider got the withdrawal */
        handed_over_at: string | null
        /** a deposit's payment page */
        link: string | null
        /** the txn_id of the deposit that it refunds */
        refund_of: string | null
        /** what limits said when it was created; null for the agent's own users */
        limits: {
          /** whether it waits for a person or for a time */
          outcome: 'hold' | 'wait' | 'note'
          words: string
          /** when it may be paid out */
          wait_until: string | null
        } | null
        /** what of a deposit can still be refunded */
        refundable: number | null
      }
      /** a deposit's refunds, oldest first */
      refunds: {
        txn_id: string
        ref_id: string
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        /** what it gives back */
        amount: number
        /** when it was made */
        created_at: string
      }[]
      words: {
        /** why it is in this state */
        why: string
        /** what happens next, and what can be done */
        next: string
        /** the same, for other languages */
        why_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
        /** the same, for other languages */
        next_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
      }
      /** each time that it was handed over, as of now; empty for the agent's own users */
      payouts: {
        /** when it was handed over */
        handed_at: string
        provider: string
        reference: string
        /** what is known of it now */
        state: string
        /** how often its provider was asked */
        asks: number
        /** when its provider is asked next */
        ask_at: string | null
        /** what the provider said last */
        said: string | null
        evidence: string | null
      }[]
      /** money that came in, as of now; empty for the agent's own users */
      payments: {
        payment_id: string
        /** what came in */
        amount: number
        /** when it was reported */
        reported_at: string
        /** what has become of it */
        state: string
        /** why it waited for a decision */
        why: string | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        evidence: string | null
      }[]
      /** what providers reported, as of now; empty for the agent's own users */
      notices: {
        /** when it came */
        received_at: string
        provider: string
        event_id: string
        /** what was done with it */
        result: string | null
        detail: string | null
      }[]
      /** as of now, oldest first */
      callbacks: {
        seq: number
        /** the status that it tells */
        status: string
        /** how far its delivery is */
        delivery: string
        attempts: number
        /** when the agent took it */
        delivered_at: string | null
      }[]
      /** oldest first; each entry as it was known then */
      timeline: {
        /** when */
        at: string
        /** one of request, provider, notice, payment, journal, callback, attempt, operator */
        kind:
          | 'request'
          | 'provider'
          | 'notice'
          | 'payment'
          | 'journal'
          | 'callback'
          | 'attempt'
          | 'operator'
        /** what happened, by a code */
        event: string
        /** what happened, in English */
        title: string
        /** what is on record, as it is */
        raw: unknown
      }[]
      actions: {
        /** one of mark-paid, mark-failed, void, take-back, refund, cancel, revert, resend */
        name:
          | 'mark-paid'
          | 'mark-failed'
          | 'void'
          | 'take-back'
          | 'refund'
          | 'cancel'
          | 'revert'
          | 'resend'
        allowed: boolean
        /** in words, where it is not allowed */
        why_not: string | null
        /** the code has to be given again */
        moves_money: boolean
        needs: ('reason' | 'amount' | 'code')[]
      }[]
    }
  }
  'POST /console/api/orders/{txn_id}/resend': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the version of the order that was looked at; where it has changed, it is refused */
      version?: number
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
        /** counts the changes of the order */
        version: number
        fee_rule: string
        /** the fee of what was really paid */
        paid_fee: number | null
        /** the very text the agent sent */
        extra_params: string | null
        /** when a provider got the withdrawal */
        handed_over_at: string | null
        /** a deposit's payment page */
        link: string | null
        /** the txn_id of the deposit that it refunds */
        refund_of: string | null
        /** what limits said when it was created; null for the agent's own users */
        limits: {
          /** whether it waits for a person or for a time */
          outcome: 'hold' | 'wait' | 'note'
          words: string
          /** when it may be paid out */
          wait_until: string | null
        } | null
        /** what of a deposit can still be refunded */
        refundable: number | null
      }
      /** a deposit's refunds, oldest first */
      refunds: {
        txn_id: string
        ref_id: string
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        /** what it gives back */
        amount: number
        /** when it was made */
        created_at: string
      }[]
      words: {
        /** why it is in this state */
        why: string
        /** what happens next, and what can be done */
        next: string
        /** the same, for other languages */
        why_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
        /** the same, for other languages */
        next_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
      }
      /** each time that it was handed over, as of now; empty for the agent's own users */
      payouts: {
        /** when it was handed over */
        handed_at: string
        provider: string
        reference: string
        /** what is known of it now */
        state: string
        /** how often its provider was asked */
        asks: number
        /** when its provider is asked next */
        ask_at: string | null
        /** what the provider said last */
        said: string | null
        evidence: string | null
      }[]
      /** money that came in, as of now; empty for the agent's own users */
      payments: {
        payment_id: string
        /** what came in */
        amount: number
        /** when it was reported */
        reported_at: string
        /** what has become of it */
        state: string
        /** why it waited for a decision */
        why: string | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        evidence: string | null
      }[]
      /** what providers reported, as of now; empty for the agent's own users */
      notices: {
        /** when it came */
        received_at: string
        provider: string
        event_id: string
        /** what was done with it */
        result: string | null
        detail: string | null
      }[]
      /** as of now, oldest first */
      callbacks: {
        seq: number
        /** the status that it tells */
        status: string
        /** how far its delivery is */
        delivery: string
        attempts: number
        /** when the agent took it */
        delivered_at: string | null
      }[]
      /** oldest first; each entry as it was known then */
      timeline: {
        /** when */
        at: string
        /** one of request, provider, notice, payment, journal, callback, attempt, operator */
        kind:
          | 'request'
          | 'provider'
          | 'notice'
          | 'payment'
          | 'journal'
          | 'callback'
          | 'attempt'
          | 'operator'
        /** what happened, by a code */
        event: string
        /** what happened, in English */
        title: string
        /** what is on record, as it is */
        raw: unknown
      }[]
      actions: {
        /** one of mark-paid, mark-failed, void, take-back, refund, cancel, revert, resend */
        name:
          | 'mark-paid'
          | 'mark-failed'
          | 'void'
          | 'take-back'
          | 'refund'
          | 'cancel'
          | 'revert'
          | 'resend'
        allowed: boolean
        /** in words, where it is not allowed */
        why_not: string | null
        /** the code has to be given again */
        moves_money: boolean
        needs: ('reason' | 'amount' | 'code')[]
      }[]
    }
  }
  'POST /console/api/orders/{txn_id}/revert': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** 1 to 1000 printable characters */
      evidence?: string
      /** the version of the order that was looked at; where it has changed, it is refused */
      version?: number
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
        /** counts the changes of the order */
        version: number
        fee_rule: string
        /** the fee of what was really paid */
        paid_fee: number | null
        /** the very text the agent sent */
        extra_params: string | null
        /** when a provider got the withdrawal */
        handed_over_at: string | null
        /** a deposit's payment page */
        link: string | null
        /** the txn_id of the deposit that it refunds */
        refund_of: string | null
        /** what limits said when it was created; null for the agent's own users */
        limits: {
          /** whether it waits for a person or for a time */
          outcome: 'hold' | 'wait' | 'note'
          words: string
          /** when it may be paid out */
          wait_until: string | null
        } | null
        /** what of a deposit can still be refunded */
        refundable: number | null
      }
      /** a deposit's refunds, oldest first */
      refunds: {
        txn_id: string
        ref_id: string
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        /** what it gives back */
        amount: number
        /** when it was made */
        created_at: string
      }[]
      words: {
        /** why it is in this state */
        why: string
        /** what happens next, and what can be done */
        next: string
        /** the same, for other languages */
        why_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
        /** the same, for other languages */
        next_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
      }
      /** each time that it was handed over, as of now; empty for the agent's own users */
      payouts: {
        /** when it was handed over */
        handed_at: string
        provider: string
        reference: string
        /** what is known of it now */
        state: string
        /** how often its provider was asked */
        asks: number
        /** when its provider is asked next */
        ask_at: string | null
        /** what the provider said last */
        said: string | null
        evidence: string | null
      }[]
      /** money that came in, as of now; empty for the agent's own users */
      payments: {
        payment_id: string
        /** what came in */
        amount: number
        /** when it was reported */
        reported_at: string
        /** what has become of it */
        state: string
        /** why it waited for a decision */
        why: string | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        evidence: string | null
      }[]
      /** what providers reported, as of now; empty for the agent's own users */
      notices: {
        /** when it came */
        received_at: string
        provider: string
        event_id: string
        /** what was done with it */
        result: string | null
        detail: string | null
      }[]
      /** as of now, oldest first */
      callbacks: {
        seq: number
        /** the status that it tells */
        status: string
        /** how far its delivery is */
        delivery: string
        attempts: number
        /** when the agent took it */
        delivered_at: string | null
      }[]
      /** oldest first; each entry as it was known then */
      timeline: {
        /** when */
        at: string
        /** one of request, provider, notice, payment, journal, callback, attempt, operator */
        kind:
          | 'request'
          | 'provider'
          | 'notice'
          | 'payment'
          | 'journal'
          | 'callback'
          | 'attempt'
          | 'operator'
        /** what happened, by a code */
        event: string
        /** what happened, in English */
        title: string
        /** what is on record, as it is */
        raw: unknown
      }[]
      actions: {
        /** one of mark-paid, mark-failed, void, take-back, refund, cancel, revert, resend */
        name:
          | 'mark-paid'
          | 'mark-failed'
          | 'void'
          | 'take-back'
          | 'refund'
          | 'cancel'
          | 'revert'
          | 'resend'
        allowed: boolean
        /** in words, where it is not allowed */
        why_not: string | null
        /** the code has to be given again */
        moves_money: boolean
        needs: ('reason' | 'amount' | 'code')[]
      }[]
    }
  }
  'POST /console/api/orders/{txn_id}/take-back': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** 1 to 1000 printable characters */
      evidence?: string
      /** the version of the order that was looked at; where it has changed, it is refused */
      version?: number
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
        /** counts the changes of the order */
        version: number
        fee_rule: string
        /** the fee of what was really paid */
        paid_fee: number | null
        /** the very text the agent sent */
        extra_params: string | null
        /** when a provider got the withdrawal */
        handed_over_at: string | null
        /** a deposit's payment page */
        link: string | null
        /** the txn_id of the deposit that it refunds */
        refund_of: string | null
        /** what limits said when it was created; null for the agent's own users */
        limits: {
          /** whether it waits for a person or for a time */
          outcome: 'hold' | 'wait' | 'note'
          words: string
          /** when it may be paid out */
          wait_until: string | null
        } | null
        /** what of a deposit can still be refunded */
        refundable: number | null
      }
      /** a deposit's refunds, oldest first */
      refunds: {
        txn_id: string
        ref_id: string
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        /** what it gives back */
        amount: number
        /** when it was made */
        created_at: string
      }[]
      words: {
        /** why it is in this state */
        why: string
        /** what happens next, and what can be done */
        next: string
        /** the same, for other languages */
        why_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
        /** the same, for other languages */
        next_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
      }
      /** each time that it was handed over, as of now; empty for the agent's own users */
      payouts: {
        /** when it was handed over */
        handed_at: string
        provider: string
        reference: string
        /** what is known of it now */
        state: string
        /** how often its provider was asked */
        asks: number
        /** when its provider is asked next */
        ask_at: string | null
        /** what the provider said last */
        said: string | null
        evidence: string | null
      }[]
      /** money that came in, as of now; empty for the agent's own users */
      payments: {
        payment_id: string
        /** what came in */
        amount: number
        /** when it was reported */
        reported_at: string
        /** what has become of it */
        state: string
        /** why it waited for a decision */
        why: string | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        evidence: string | null
      }[]
      /** what providers reported, as of now; empty for the agent's own users */
      notices: {
        /** when it came */
        received_at: string
        provider: string
        event_id: string
        /** what was done with it */
        result: string | null
        detail: string | null
      }[]
      /** as of now, oldest first */
      callbacks: {
        seq: number
        /** the status that it tells */
        status: string
        /** how far its delivery is */
        delivery: string
        attempts: number
        /** when the agent took it */
        delivered_at: string | null
      }[]
      /** oldest first; each entry as it was known then */
      timeline: {
        /** when */
        at: string
        /** one of request, provider, notice, payment, journal, callback, attempt, operator */
        kind:
          | 'request'
          | 'provider'
          | 'notice'
          | 'payment'
          | 'journal'
          | 'callback'
          | 'attempt'
          | 'operator'
        /** what happened, by a code */
        event: string
        /** what happened, in English */
        title: string
        /** what is on record, as it is */
        raw: unknown
      }[]
      actions: {
        /** one of mark-paid, mark-failed, void, take-back, refund, cancel, revert, resend */
        name:
          | 'mark-paid'
          | 'mark-failed'
          | 'void'
          | 'take-back'
          | 'refund'
          | 'cancel'
          | 'revert'
          | 'resend'
        allowed: boolean
        /** in words, where it is not allowed */
        why_not: string | null
        /** the code has to be given again */
        moves_money: boolean
        needs: ('reason' | 'amount' | 'code')[]
      }[]
    }
  }
  'POST /console/api/orders/{txn_id}/void': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the version of the order that was looked at; where it has changed, it is refused */
      version?: number
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      order: {
        /** the service's transaction id */
        txn_id: string
        /** the agent's own id */
        ref_id: string
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        user_id: string
        /** the amount asked for */
        amount: number
        /** what is to be paid, where it is not the amount */
        payable: number | null
        /** the fee of the transaction */
        fee: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** what was really paid */
        paid_amount: number | null
        /** masked for viewers */
        account_name: string
        /** masked for viewers */
        account_no: string
        bank_code: string
        /** null for the agent's own users */
        provider: string | null
        /** null for the agent's own users */
        provider_ref: string | null
        /** when it was created */
        created_at: string
        /** until when a deposit can be paid */
        expires_at: string | null
        /** when its outcome became known */
        completed_at: string | null
        /** counts the changes of the order */
        version: number
        fee_rule: string
        /** the fee of what was really paid */
        paid_fee: number | null
        /** the very text the agent sent */
        extra_params: string | null
        /** when a provider got the withdrawal */
        handed_over_at: string | null
        /** a deposit's payment page */
        link: string | null
        /** the txn_id of the deposit that it refunds */
        refund_of: string | null
        /** what limits said when it was created; null for the agent's own users */
        limits: {
          /** whether it waits for a person or for a time */
          outcome: 'hold' | 'wait' | 'note'
          words: string
          /** when it may be paid out */
          wait_until: string | null
        } | null
        /** what of a deposit can still be refunded */
        refundable: number | null
      }
      /** a deposit's refunds, oldest first */
      refunds: {
        txn_id: string
        ref_id: string
        /** what has become of it */
        status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
        /** what it gives back */
        amount: number
        /** when it was made */
        created_at: string
      }[]
      words: {
        /** why it is in this state */
        why: string
        /** what happens next, and what can be done */
        next: string
        /** the same, for other languages */
        why_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
        /** the same, for other languages */
        next_codes: {
          /** which sentence it is */
          code: string
          /** what is said in it */
          text: string | null
          /** the time that is in it */
          at: string | null
        }[]
      }
      /** each time that it was handed over, as of now; empty for the agent's own users */
      payouts: {
        /** when it was handed over */
        handed_at: string
        provider: string
        reference: string
        /** what is known of it now */
        state: string
        /** how often its provider was asked */
        asks: number
        /** when its provider is asked next */
        ask_at: string | null
        /** what the provider said last */
        said: string | null
        evidence: string | null
      }[]
      /** money that came in, as of now; empty for the agent's own users */
      payments: {
        payment_id: string
        /** what came in */
        amount: number
        /** when it was reported */
        reported_at: string
        /** what has become of it */
        state: string
        /** why it waited for a decision */
        why: string | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        evidence: string | null
      }[]
      /** what providers reported, as of now; empty for the agent's own users */
      notices: {
        /** when it came */
        received_at: string
        provider: string
        event_id: string
        /** what was done with it */
        result: string | null
        detail: string | null
      }[]
      /** as of now, oldest first */
      callbacks: {
        seq: number
        /** the status that it tells */
        status: string
        /** how far its delivery is */
        delivery: string
        attempts: number
        /** when the agent took it */
        delivered_at: string | null
      }[]
      /** oldest first; each entry as it was known then */
      timeline: {
        /** when */
        at: string
        /** one of request, provider, notice, payment, journal, callback, attempt, operator */
        kind:
          | 'request'
          | 'provider'
          | 'notice'
          | 'payment'
          | 'journal'
          | 'callback'
          | 'attempt'
          | 'operator'
        /** what happened, by a code */
        event: string
        /** what happened, in English */
        title: string
        /** what is on record, as it is */
        raw: unknown
      }[]
      actions: {
        /** one of mark-paid, mark-failed, void, take-back, refund, cancel, revert, resend */
        name:
          | 'mark-paid'
          | 'mark-failed'
          | 'void'
          | 'take-back'
          | 'refund'
          | 'cancel'
          | 'revert'
          | 'resend'
        allowed: boolean
        /** in words, where it is not allowed */
        why_not: string | null
        /** the code has to be given again */
        moves_money: boolean
        needs: ('reason' | 'amount' | 'code')[]
      }[]
    }
  }
  'POST /console/api/payment-decisions': {
    query: Record<string, never>
    body: {
      /** 1 to 100 decisions, of one currency */
      decisions: {
        payment_id: string
        /** credit, return or dismiss */
        do: 'credit' | 'return' | 'dismiss'
        /** the deposit it pays */
        txn_id?: string
        /** an agent's app id */
        agent?: string
      }[]
      /** of the list as it was shown */
      digest: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        payment_id: string
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** credit, return or dismiss */
        does: 'credit' | 'return' | 'dismiss'
        /** where a credit goes */
        to: {
          /** null: the wallet */
          txn_id: string | null
          /** whose order or wallet it is */
          app_id: string
          agent_name: string
        } | null
        /** done; refused; unknown: read it again; not_tried, because one before it is unknown */
        outcome: 'done' | 'refused' | 'unknown' | 'not_tried'
        /** why it was refused, or is unknown */
        detail: string | null
      }[]
    }
  }
  'POST /console/api/payment-decisions/preview': {
    query: Record<string, never>
    body: {
      /** 1 to 100 decisions, of one currency */
      decisions: {
        payment_id: string
        /** credit, return or dismiss */
        do: 'credit' | 'return' | 'dismiss'
        /** the deposit it pays */
        txn_id?: string
        /** an agent's app id */
        agent?: string
      }[]
    }
    answer: {
      /** of the list as it was shown */
      digest: string
      /** of all of them */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** the most that one code confirms, by policy; null for any sum */
      most: number | null
      data: {
        payment_id: string
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** credit, return or dismiss */
        does: 'credit' | 'return' | 'dismiss'
        /** where a credit goes */
        to: {
          /** null: the wallet */
          txn_id: string | null
          /** whose order or wallet it is */
          app_id: string
          agent_name: string
        } | null
      }[]
    }
  }
  'POST /console/api/payments/{payment_id}/assign': {
    query: Record<string, never>
    body: {
      /** an address of a user */
      assignee: string | null
      /** who looked into it when it was read, null for nobody; refused where that has changed */
      instead_of?: string | null
    }
    answer: {
      payment: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      }
      contradicted: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      } | null
      candidates: {
        order: {
          /** the service's transaction id */
          txn_id: string
          /** the agent's own id */
          ref_id: string
          /** an agent's app id */
          app_id: string
          agent_name: string
          /** deposit or withdraw */
          kind: 'deposit' | 'withdraw'
          /** what has become of it */
          status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
          user_id: string
          /** the amount asked for */
          amount: number
          /** what is to be paid, where it is not the amount */
          payable: number | null
          /** the fee of the transaction */
          fee: number
          /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
          currency:
            | 'THB'
            | 'VND'
            | 'SGD'
            | 'MYR'
            | 'IDR'
            | 'PHP'
            | 'INR'
            | 'BRL'
            | 'EUR'
            | 'CHF'
            | 'GBP'
            | 'USD'
          /** what was really paid */
          paid_amount: number | null
          /** masked for viewers */
          account_name: string
          /** masked for viewers */
          account_no: string
          bank_code: string
          /** null for the agent's own users */
          provider: string | null
          /** null for the agent's own users */
          provider_ref: string | null
          /** when it was created */
          created_at: string
          /** until when a deposit can be paid */
          expires_at: string | null
          /** when its outcome became known */
          completed_at: string | null
        }
        /** why it may be the one that was meant */
        because: string
        /** whether it can be credited to it */
        allowed: boolean
        why_not: string | null
      }[]
      /** what a person decided; null while it waits, and if nobody had to */
      decision: {
        /** when it was done */
        at: string
        /** credit_payment, return_payment or dismiss_payment */
        action: 'credit_payment' | 'return_payment' | 'dismiss_payment'
        /** who decided, or proposed it */
        by: string
        /** who approved it, where two had to */
        approved_by: string | null
        reason: string | null
        evidence: string | null
        /** the order it was credited to */
        txn_id: string | null
        /** an agent's app id */
        wallet: string | null
      } | null
      /** oldest first */
      notes: {
        /** when */
        at: string
        /** the address of who wrote it */
        by: string
        /** who was to look into it from then on */
        assignee: string | null
        note: string | null
      }[]
    }
  }
  'POST /console/api/payments/{payment_id}/credit': {
    query: Record<string, never>
    body: {
      /** the deposit it pays */
      txn_id?: string
      /** an agent's app id */
      agent?: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      payment: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      }
      contradicted: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      } | null
      candidates: {
        order: {
          /** the service's transaction id */
          txn_id: string
          /** the agent's own id */
          ref_id: string
          /** an agent's app id */
          app_id: string
          agent_name: string
          /** deposit or withdraw */
          kind: 'deposit' | 'withdraw'
          /** what has become of it */
          status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
          user_id: string
          /** the amount asked for */
          amount: number
          /** what is to be paid, where it is not the amount */
          payable: number | null
          /** the fee of the transaction */
          fee: number
          /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
          currency:
            | 'THB'
            | 'VND'
            | 'SGD'
            | 'MYR'
            | 'IDR'
            | 'PHP'
            | 'INR'
            | 'BRL'
            | 'EUR'
            | 'CHF'
            | 'GBP'
            | 'USD'
          /** what was really paid */
          paid_amount: number | null
          /** masked for viewers */
          account_name: string
          /** masked for viewers */
          account_no: string
          bank_code: string
          /** null for the agent's own users */
          provider: string | null
          /** null for the agent's own users */
          provider_ref: string | null
          /** when it was created */
          created_at: string
          /** until when a deposit can be paid */
          expires_at: string | null
          /** when its outcome became known */
          completed_at: string | null
        }
        /** why it may be the one that was meant */
        because: string
        /** whether it can be credited to it */
        allowed: boolean
        why_not: string | null
      }[]
      /** what a person decided; null while it waits, and if nobody had to */
      decision: {
        /** when it was done */
        at: string
        /** credit_payment, return_payment or dismiss_payment */
        action: 'credit_payment' | 'return_payment' | 'dismiss_payment'
        /** who decided, or proposed it */
        by: string
        /** who approved it, where two had to */
        approved_by: string | null
        reason: string | null
        evidence: string | null
        /** the order it was credited to */
        txn_id: string | null
        /** an agent's app id */
        wallet: string | null
      } | null
      /** oldest first */
      notes: {
        /** when */
        at: string
        /** the address of who wrote it */
        by: string
        /** who was to look into it from then on */
        assignee: string | null
        note: string | null
      }[]
    }
  }
  'POST /console/api/payments/{payment_id}/dismiss': {
    query: Record<string, never>
    body: {
      /** 1 to 1000 printable characters */
      evidence?: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      payment: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      }
      contradicted: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      } | null
      candidates: {
        order: {
          /** the service's transaction id */
          txn_id: string
          /** the agent's own id */
          ref_id: string
          /** an agent's app id */
          app_id: string
          agent_name: string
          /** deposit or withdraw */
          kind: 'deposit' | 'withdraw'
          /** what has become of it */
          status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
          user_id: string
          /** the amount asked for */
          amount: number
          /** what is to be paid, where it is not the amount */
          payable: number | null
          /** the fee of the transaction */
          fee: number
          /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
          currency:
            | 'THB'
            | 'VND'
            | 'SGD'
            | 'MYR'
            | 'IDR'
            | 'PHP'
            | 'INR'
            | 'BRL'
            | 'EUR'
            | 'CHF'
            | 'GBP'
            | 'USD'
          /** what was really paid */
          paid_amount: number | null
          /** masked for viewers */
          account_name: string
          /** masked for viewers */
          account_no: string
          bank_code: string
          /** null for the agent's own users */
          provider: string | null
          /** null for the agent's own users */
          provider_ref: string | null
          /** when it was created */
          created_at: string
          /** until when a deposit can be paid */
          expires_at: string | null
          /** when its outcome became known */
          completed_at: string | null
        }
        /** why it may be the one that was meant */
        because: string
        /** whether it can be credited to it */
        allowed: boolean
        why_not: string | null
      }[]
      /** what a person decided; null while it waits, and if nobody had to */
      decision: {
        /** when it was done */
        at: string
        /** credit_payment, return_payment or dismiss_payment */
        action: 'credit_payment' | 'return_payment' | 'dismiss_payment'
        /** who decided, or proposed it */
        by: string
        /** who approved it, where two had to */
        approved_by: string | null
        reason: string | null
        evidence: string | null
        /** the order it was credited to */
        txn_id: string | null
        /** an agent's app id */
        wallet: string | null
      } | null
      /** oldest first */
      notes: {
        /** when */
        at: string
        /** the address of who wrote it */
        by: string
        /** who was to look into it from then on */
        assignee: string | null
        note: string | null
      }[]
    }
  }
  'POST /console/api/payments/{payment_id}/note': {
    query: Record<string, never>
    body: {
      /** 1 to 1000 printable characters */
      note: string
    }
    answer: {
      payment: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      }
      contradicted: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      } | null
      candidates: {
        order: {
          /** the service's transaction id */
          txn_id: string
          /** the agent's own id */
          ref_id: string
          /** an agent's app id */
          app_id: string
          agent_name: string
          /** deposit or withdraw */
          kind: 'deposit' | 'withdraw'
          /** what has become of it */
          status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
          user_id: string
          /** the amount asked for */
          amount: number
          /** what is to be paid, where it is not the amount */
          payable: number | null
          /** the fee of the transaction */
          fee: number
          /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
          currency:
            | 'THB'
            | 'VND'
            | 'SGD'
            | 'MYR'
            | 'IDR'
            | 'PHP'
            | 'INR'
            | 'BRL'
            | 'EUR'
            | 'CHF'
            | 'GBP'
            | 'USD'
          /** what was really paid */
          paid_amount: number | null
          /** masked for viewers */
          account_name: string
          /** masked for viewers */
          account_no: string
          bank_code: string
          /** null for the agent's own users */
          provider: string | null
          /** null for the agent's own users */
          provider_ref: string | null
          /** when it was created */
          created_at: string
          /** until when a deposit can be paid */
          expires_at: string | null
          /** when its outcome became known */
          completed_at: string | null
        }
        /** why it may be the one that was meant */
        because: string
        /** whether it can be credited to it */
        allowed: boolean
        why_not: string | null
      }[]
      /** what a person decided; null while it waits, and if nobody had to */
      decision: {
        /** when it was done */
        at: string
        /** credit_payment, return_payment or dismiss_payment */
        action: 'credit_payment' | 'return_payment' | 'dismiss_payment'
        /** who decided, or proposed it */
        by: string
        /** who approved it, where two had to */
        approved_by: string | null
        reason: string | null
        evidence: string | null
        /** the order it was credited to */
        txn_id: string | null
        /** an agent's app id */
        wallet: string | null
      } | null
      /** oldest first */
      notes: {
        /** when */
        at: string
        /** the address of who wrote it */
        by: string
        /** who was to look into it from then on */
        assignee: string | null
        note: string | null
      }[]
    }
  }
  'POST /console/api/payments/{payment_id}/return': {
    query: Record<string, never>
    body: {
      /** 1 to 1000 printable characters */
      evidence?: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      payment: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      }
      contradicted: {
        /** the provider's name and its own id */
        payment_id: string
        /** an agent's app id */
        app_id: string | null
        agent_name: string | null
        /** the order it came in for */
        txn_id: string | null
        /** what has become of it; dismissed: it was not money */
        state: 'waiting' | 'credited' | 'returned' | 'taken_back' | 'dismissed'
        /** why it waits */
        why:
          | 'late'
          | 'wrong_amount'
          | 'duplicate'
          | 'fee'
          | 'bound'
          | 'unmatched'
          | 'claimed_twice'
          | 'wrong_provider'
          | 'wrong_currency'
          | 'ambiguous'
          | null
        /** order or wallet */
        credited_to: 'order' | 'wallet' | null
        /** what came in */
        amount: number
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** when it was paid, by the bank */
        paid_at: string
        /** when it was reported */
        reported_at: string
        /** what the payer gave, where it led nowhere */
        reference: string | null
        payer: {
          account_no: string | null
          account_name: string | null
          bank_code: string | null
        } | null
        /** the payment that it says something else of, by the same id */
        contradicts: string | null
        /** how it was returned, or what shows that it was not money */
        evidence: string | null
        /** the address of who looks into it */
        assignee: string | null
      } | null
      candidates: {
        order: {
          /** the service's transaction id */
          txn_id: string
          /** the agent's own id */
          ref_id: string
          /** an agent's app id */
          app_id: string
          agent_name: string
          /** deposit or withdraw */
          kind: 'deposit' | 'withdraw'
          /** what has become of it */
          status: 'WAITING' | 'PAID' | 'FAILED' | 'EXPIRED' | 'VOID' | 'CANCEL' | 'REVERT'
          user_id: string
          /** the amount asked for */
          amount: number
          /** what is to be paid, where it is not the amount */
          payable: number | null
          /** the fee of the transaction */
          fee: number
          /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
          currency:
            | 'THB'
            | 'VND'
            | 'SGD'
            | 'MYR'
            | 'IDR'
            | 'PHP'
            | 'INR'
            | 'BRL'
            | 'EUR'
            | 'CHF'
            | 'GBP'
            | 'USD'
          /** what was really paid */
          paid_amount: number | null
          /** masked for viewers */
          account_name: string
          /** masked for viewers */
          account_no: string
          bank_code: string
          /** null for the agent's own users */
          provider: string | null
          /** null for the agent's own users */
          provider_ref: string | null
          /** when it was created */
          created_at: string
          /** until when a deposit can be paid */
          expires_at: string | null
          /** when its outcome became known */
          completed_at: string | null
        }
        /** why it may be the one that was meant */
        because: string
        /** whether it can be credited to it */
        allowed: boolean
        why_not: string | null
      }[]
      /** what a person decided; null while it waits, and if nobody had to */
      decision: {
        /** when it was done */
        at: string
        /** credit_payment, return_payment or dismiss_payment */
        action: 'credit_payment' | 'return_payment' | 'dismiss_payment'
        /** who decided, or proposed it */
        by: string
        /** who approved it, where two had to */
        approved_by: string | null
        reason: string | null
        evidence: string | null
        /** the order it was credited to */
        txn_id: string | null
        /** an agent's app id */
        wallet: string | null
      } | null
      /** oldest first */
      notes: {
        /** when */
        at: string
        /** the address of who wrote it */
        by: string
        /** who was to look into it from then on */
        assignee: string | null
        note: string | null
      }[]
    }
  }
  'POST /console/api/payout-files': {
    query: Record<string, never>
    body: {
      /** the name of a bank account */
      account: string
      /** true: of what the bank has debited already, as after a restore; such a file never leaves */
      debited?: boolean
      /** with `debited`: the movement by which the bank debited a lost file in one sum; `txn_ids` says what it paid */
      movement?: string
      /** with `movement`: the withdrawals that it paid; with `rest` they add up to it */
      txn_ids?: string[]
      /** with `movement`: what it is more than these, which is the bank's charge and a cost of the house; withdrawals that were lost are created again first, and named */
      rest?: string
    }
    answer: {
      id: string
      account: string
      /** where the file is in its life */
      state:
        | 'draft'
        | 'approving'
        | 'approved'
        | 'exported'
        | 'sent'
        | 'acknowledged'
        | 'closed'
        | 'cancelled'
      /** what an approval has to name */
      digest: string
      count: number
      /** of all items */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      format: string
      made_by: string
      /** when the draft was made */
      made_at: string
      /** the bank has debited its payouts already: it is never sealed */
      already_paid: boolean
      /** the one debit that paid all of it, as who approves says; else null */
      debit: {
        movement: string
        /** that left */
        amount: number
        /** of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house */
        rest: number
        day: string
        text: string
      } | null
      /** withdrawals of the draft that ended before the approval */
      dropped: number
      banks: {
        bank: string
        count: number
        /** of the bank's items */
        sum: number
      }[]
      sealed: {
        name: string
        message_id: string
        execution_date: string
        sha256: string
        /** when the bytes were fixed */
        sealed_at: string
        /** whether it would be for a later day now */
        is_over: boolean
      } | null
      approvals: {
        round: number
        digest: string
        by: string
        /** when */
        at: string
      }[]
      downloads: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      sent: {
        by: string
        bank_reference: string
        /** when */
        at: string
      } | null
      put: {
        /** its name on the bank's server */
        path: string
        by: string
        reason: string
        /** when */
        at: string
        /** held: a person has to look */
        state: 'waiting' | 'held' | 'arrived'
        /** why it has not arrived yet */
        fault: string | null
      } | null
      /** whether it may go to the bank's server by SFTP */
      can_send: boolean
      reports: {
        id: string
        by: string
        /** when */
        at: string
        /** what fits no payment of the file, and changed nothing */
        breaks: {
          what: string
          found: string
          code: string | null
        }[]
      }[]
      /** who had it sealed again for a later day */
      reseals: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      /** payouts that two people ended, and not the bank */
      ends: {
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        how: 'taken_out' | 'abandoned'
        count: number
        /** what two people decided */
        proposal: string
        reason: string
        /** when */
        at: string
      }[]
      /** what waits for a second person */
      proposals: {
        id: string
        action: string
        by: string
        /** when */
        at: string
      }[]
      items: {
        txn_id: string
        /** by which the bank names it; null in a draft */
        code: string | null
        /** to pay */
        amount: number
        /** what became of the payout */
        state:
          | 'waiting'
          | 'dropped'
          | 'accepted'
          | 'paid'
          | 'rejected'
          | 'unknown'
          | 'cancelled'
          | 'returned'
        /** what the bank said of it last */
        said: string | null
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        ended: 'taken_out' | 'abandoned' | null
        payee: {
          name: string
          account_no: string
          bank: string
        }
      }[]
    }
  }
  'POST /console/api/payout-files/{id}/abandon': {
    query: Record<string, never>
    body: {
      /** of the payouts that the bank has not paid; all that are open */
      codes?: string[]
      /** 1 to 1000 printable characters */
      evidence: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      account: string
      /** where the file is in its life */
      state:
        | 'draft'
        | 'approving'
        | 'approved'
        | 'exported'
        | 'sent'
        | 'acknowledged'
        | 'closed'
        | 'cancelled'
      /** what an approval has to name */
      digest: string
      count: number
      /** of all items */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      format: string
      made_by: string
      /** when the draft was made */
      made_at: string
      /** the bank has debited its payouts already: it is never sealed */
      already_paid: boolean
      /** the one debit that paid all of it, as who approves says; else null */
      debit: {
        movement: string
        /** that left */
        amount: number
        /** of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house */
        rest: number
        day: string
        text: string
      } | null
      /** withdrawals of the draft that ended before the approval */
      dropped: number
      banks: {
        bank: string
        count: number
        /** of the bank's items */
        sum: number
      }[]
      sealed: {
        name: string
        message_id: string
        execution_date: string
        sha256: string
        /** when the bytes were fixed */
        sealed_at: string
        /** whether it would be for a later day now */
        is_over: boolean
      } | null
      approvals: {
        round: number
        digest: string
        by: string
        /** when */
        at: string
      }[]
      downloads: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      sent: {
        by: string
        bank_reference: string
        /** when */
        at: string
      } | null
      put: {
        /** its name on the bank's server */
        path: string
        by: string
        reason: string
        /** when */
        at: string
        /** held: a person has to look */
        state: 'waiting' | 'held' | 'arrived'
        /** why it has not arrived yet */
        fault: string | null
      } | null
      /** whether it may go to the bank's server by SFTP */
      can_send: boolean
      reports: {
        id: string
        by: string
        /** when */
        at: string
        /** what fits no payment of the file, and changed nothing */
        breaks: {
          what: string
          found: string
          code: string | null
        }[]
      }[]
      /** who had it sealed again for a later day */
      reseals: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      /** payouts that two people ended, and not the bank */
      ends: {
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        how: 'taken_out' | 'abandoned'
        count: number
        /** what two people decided */
        proposal: string
        reason: string
        /** when */
        at: string
      }[]
      /** what waits for a second person */
      proposals: {
        id: string
        action: string
        by: string
        /** when */
        at: string
      }[]
      items: {
        txn_id: string
        /** by which the bank names it; null in a draft */
        code: string | null
        /** to pay */
        amount: number
        /** what became of the payout */
        state:
          | 'waiting'
          | 'dropped'
          | 'accepted'
          | 'paid'
          | 'rejected'
          | 'unknown'
          | 'cancelled'
          | 'returned'
        /** what the bank said of it last */
        said: string | null
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        ended: 'taken_out' | 'abandoned' | null
        payee: {
          name: string
          account_no: string
          bank: string
        }
      }[]
    }
  }
  'POST /console/api/payout-files/{id}/approve': {
    query: Record<string, never>
    body: {
      /** the digest of what was shown, 64 hex digits */
      digest: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      account: string
      /** where the file is in its life */
      state:
        | 'draft'
        | 'approving'
        | 'approved'
        | 'exported'
        | 'sent'
        | 'acknowledged'
        | 'closed'
        | 'cancelled'
      /** what an approval has to name */
      digest: string
      count: number
      /** of all items */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      format: string
      made_by: string
      /** when the draft was made */
      made_at: string
      /** the bank has debited its payouts already: it is never sealed */
      already_paid: boolean
      /** the one debit that paid all of it, as who approves says; else null */
      debit: {
        movement: string
        /** that left */
        amount: number
        /** of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house */
        rest: number
        day: string
        text: string
      } | null
      /** withdrawals of the draft that ended before the approval */
      dropped: number
      banks: {
        bank: string
        count: number
        /** of the bank's items */
        sum: number
      }[]
      sealed: {
        name: string
        message_id: string
        execution_date: string
        sha256: string
        /** when the bytes were fixed */
        sealed_at: string
        /** whether it would be for a later day now */
        is_over: boolean
      } | null
      approvals: {
        round: number
        digest: string
        by: string
        /** when */
        at: string
      }[]
      downloads: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      sent: {
        by: string
        bank_reference: string
        /** when */
        at: string
      } | null
      put: {
        /** its name on the bank's server */
        path: string
        by: string
        reason: string
        /** when */
        at: string
        /** held: a person has to look */
        state: 'waiting' | 'held' | 'arrived'
        /** why it has not arrived yet */
        fault: string | null
      } | null
      /** whether it may go to the bank's server by SFTP */
      can_send: boolean
      reports: {
        id: string
        by: string
        /** when */
        at: string
        /** what fits no payment of the file, and changed nothing */
        breaks: {
          what: string
          found: string
          code: string | null
        }[]
      }[]
      /** who had it sealed again for a later day */
      reseals: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      /** payouts that two people ended, and not the bank */
      ends: {
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        how: 'taken_out' | 'abandoned'
        count: number
        /** what two people decided */
        proposal: string
        reason: string
        /** when */
        at: string
      }[]
      /** what waits for a second person */
      proposals: {
        id: string
        action: string
        by: string
        /** when */
        at: string
      }[]
      items: {
        txn_id: string
        /** by which the bank names it; null in a draft */
        code: string | null
        /** to pay */
        amount: number
        /** what became of the payout */
        state:
          | 'waiting'
          | 'dropped'
          | 'accepted'
          | 'paid'
          | 'rejected'
          | 'unknown'
          | 'cancelled'
          | 'returned'
        /** what the bank said of it last */
        said: string | null
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        ended: 'taken_out' | 'abandoned' | null
        payee: {
          name: string
          account_no: string
          bank: string
        }
      }[]
    }
  }
  'POST /console/api/payout-files/{id}/cancel': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      account: string
      /** where the file is in its life */
      state:
        | 'draft'
        | 'approving'
        | 'approved'
        | 'exported'
        | 'sent'
        | 'acknowledged'
        | 'closed'
        | 'cancelled'
      /** what an approval has to name */
      digest: string
      count: number
      /** of all items */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      format: string
      made_by: string
      /** when the draft was made */
      made_at: string
      /** the bank has debited its payouts already: it is never sealed */
      already_paid: boolean
      /** the one debit that paid all of it, as who approves says; else null */
      debit: {
        movement: string
        /** that left */
        amount: number
        /** of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house */
        rest: number
        day: string
        text: string
      } | null
      /** withdrawals of the draft that ended before the approval */
      dropped: number
      banks: {
        bank: string
        count: number
        /** of the bank's items */
        sum: number
      }[]
      sealed: {
        name: string
        message_id: string
        execution_date: string
        sha256: string
        /** when the bytes were fixed */
        sealed_at: string
        /** whether it would be for a later day now */
        is_over: boolean
      } | null
      approvals: {
        round: number
        digest: string
        by: string
        /** when */
        at: string
      }[]
      downloads: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      sent: {
        by: string
        bank_reference: string
        /** when */
        at: string
      } | null
      put: {
        /** its name on the bank's server */
        path: string
        by: string
        reason: string
        /** when */
        at: string
        /** held: a person has to look */
        state: 'waiting' | 'held' | 'arrived'
        /** why it has not arrived yet */
        fault: string | null
      } | null
      /** whether it may go to the bank's server by SFTP */
      can_send: boolean
      reports: {
        id: string
        by: string
        /** when */
        at: string
        /** what fits no payment of the file, and changed nothing */
        breaks: {
          what: string
          found: string
          code: string | null
        }[]
      }[]
      /** who had it sealed again for a later day */
      reseals: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      /** payouts that two people ended, and not the bank */
      ends: {
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        how: 'taken_out' | 'abandoned'
        count: number
        /** what two people decided */
        proposal: string
        reason: string
        /** when */
        at: string
      }[]
      /** what waits for a second person */
      proposals: {
        id: string
        action: string
        by: string
        /** when */
        at: string
      }[]
      items: {
        txn_id: string
        /** by which the bank names it; null in a draft */
        code: string | null
        /** to pay */
        amount: number
        /** what became of the payout */
        state:
          | 'waiting'
          | 'dropped'
          | 'accepted'
          | 'paid'
          | 'rejected'
          | 'unknown'
          | 'cancelled'
          | 'returned'
        /** what the bank said of it last */
        said: string | null
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        ended: 'taken_out' | 'abandoned' | null
        payee: {
          name: string
          account_no: string
          bank: string
        }
      }[]
    }
  }
  'POST /console/api/payout-files/{id}/export': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: string
  }
  'POST /console/api/payout-files/{id}/reports/{report_id}/reject': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      account: string
      /** where the file is in its life */
      state:
        | 'draft'
        | 'approving'
        | 'approved'
        | 'exported'
        | 'sent'
        | 'acknowledged'
        | 'closed'
        | 'cancelled'
      /** what an approval has to name */
      digest: string
      count: number
      /** of all items */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      format: string
      made_by: string
      /** when the draft was made */
      made_at: string
      /** the bank has debited its payouts already: it is never sealed */
      already_paid: boolean
      /** the one debit that paid all of it, as who approves says; else null */
      debit: {
        movement: string
        /** that left */
        amount: number
        /** of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house */
        rest: number
        day: string
        text: string
      } | null
      /** withdrawals of the draft that ended before the approval */
      dropped: number
      banks: {
        bank: string
        count: number
        /** of the bank's items */
        sum: number
      }[]
      sealed: {
        name: string
        message_id: string
        execution_date: string
        sha256: string
        /** when the bytes were fixed */
        sealed_at: string
        /** whether it would be for a later day now */
        is_over: boolean
      } | null
      approvals: {
        round: number
        digest: string
        by: string
        /** when */
        at: string
      }[]
      downloads: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      sent: {
        by: string
        bank_reference: string
        /** when */
        at: string
      } | null
      put: {
        /** its name on the bank's server */
        path: string
        by: string
        reason: string
        /** when */
        at: string
        /** held: a person has to look */
        state: 'waiting' | 'held' | 'arrived'
        /** why it has not arrived yet */
        fault: string | null
      } | null
      /** whether it may go to the bank's server by SFTP */
      can_send: boolean
      reports: {
        id: string
        by: string
        /** when */
        at: string
        /** what fits no payment of the file, and changed nothing */
        breaks: {
          what: string
          found: string
          code: string | null
        }[]
      }[]
      /** who had it sealed again for a later day */
      reseals: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      /** payouts that two people ended, and not the bank */
      ends: {
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        how: 'taken_out' | 'abandoned'
        count: number
        /** what two people decided */
        proposal: string
        reason: string
        /** when */
        at: string
      }[]
      /** what waits for a second person */
      proposals: {
        id: string
        action: string
        by: string
        /** when */
        at: string
      }[]
      items: {
        txn_id: string
        /** by which the bank names it; null in a draft */
        code: string | null
        /** to pay */
        amount: number
        /** what became of the payout */
        state:
          | 'waiting'
          | 'dropped'
          | 'accepted'
          | 'paid'
          | 'rejected'
          | 'unknown'
          | 'cancelled'
          | 'returned'
        /** what the bank said of it last */
        said: string | null
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        ended: 'taken_out' | 'abandoned' | null
        payee: {
          name: string
          account_no: string
          bank: string
        }
      }[]
    }
  }
  'POST /console/api/payout-files/{id}/reseal': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      account: string
      /** where the file is in its life */
      state:
        | 'draft'
        | 'approving'
        | 'approved'
        | 'exported'
        | 'sent'
        | 'acknowledged'
        | 'closed'
        | 'cancelled'
      /** what an approval has to name */
      digest: string
      count: number
      /** of all items */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      format: string
      made_by: string
      /** when the draft was made */
      made_at: string
      /** the bank has debited its payouts already: it is never sealed */
      already_paid: boolean
      /** the one debit that paid all of it, as who approves says; else null */
      debit: {
        movement: string
        /** that left */
        amount: number
        /** of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house */
        rest: number
        day: string
        text: string
      } | null
      /** withdrawals of the draft that ended before the approval */
      dropped: number
      banks: {
        bank: string
        count: number
        /** of the bank's items */
        sum: number
      }[]
      sealed: {
        name: string
        message_id: string
        execution_date: string
        sha256: string
        /** when the bytes were fixed */
        sealed_at: string
        /** whether it would be for a later day now */
        is_over: boolean
      } | null
      approvals: {
        round: number
        digest: string
        by: string
        /** when */
        at: string
      }[]
      downloads: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      sent: {
        by: string
        bank_reference: string
        /** when */
        at: string
      } | null
      put: {
        /** its name on the bank's server */
        path: string
        by: string
        reason: string
        /** when */
        at: string
        /** held: a person has to look */
        state: 'waiting' | 'held' | 'arrived'
        /** why it has not arrived yet */
        fault: string | null
      } | null
      /** whether it may go to the bank's server by SFTP */
      can_send: boolean
      reports: {
        id: string
        by: string
        /** when */
        at: string
        /** what fits no payment of the file, and changed nothing */
        breaks: {
          what: string
          found: string
          code: string | null
        }[]
      }[]
      /** who had it sealed again for a later day */
      reseals: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      /** payouts that two people ended, and not the bank */
      ends: {
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        how: 'taken_out' | 'abandoned'
        count: number
        /** what two people decided */
        proposal: string
        reason: string
        /** when */
        at: string
      }[]
      /** what waits for a second person */
      proposals: {
        id: string
        action: string
        by: string
        /** when */
        at: string
      }[]
      items: {
        txn_id: string
        /** by which the bank names it; null in a draft */
        code: string | null
        /** to pay */
        amount: number
        /** what became of the payout */
        state:
          | 'waiting'
          | 'dropped'
          | 'accepted'
          | 'paid'
          | 'rejected'
          | 'unknown'
          | 'cancelled'
          | 'returned'
        /** what the bank said of it last */
        said: string | null
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        ended: 'taken_out' | 'abandoned' | null
        payee: {
          name: string
          account_no: string
          bank: string
        }
      }[]
    }
  }
  'POST /console/api/payout-files/{id}/send': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      account: string
      /** where the file is in its life */
      state:
        | 'draft'
        | 'approving'
        | 'approved'
        | 'exported'
        | 'sent'
        | 'acknowledged'
        | 'closed'
        | 'cancelled'
      /** what an approval has to name */
      digest: string
      count: number
      /** of all items */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      format: string
      made_by: string
      /** when the draft was made */
      made_at: string
      /** the bank has debited its payouts already: it is never sealed */
      already_paid: boolean
      /** the one debit that paid all of it, as who approves says; else null */
      debit: {
        movement: string
        /** that left */
        amount: number
        /** of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house */
        rest: number
        day: string
        text: string
      } | null
      /** withdrawals of the draft that ended before the approval */
      dropped: number
      banks: {
        bank: string
        count: number
        /** of the bank's items */
        sum: number
      }[]
      sealed: {
        name: string
        message_id: string
        execution_date: string
        sha256: string
        /** when the bytes were fixed */
        sealed_at: string
        /** whether it would be for a later day now */
        is_over: boolean
      } | null
      approvals: {
        round: number
        digest: string
        by: string
        /** when */
        at: string
      }[]
      downloads: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      sent: {
        by: string
        bank_reference: string
        /** when */
        at: string
      } | null
      put: {
        /** its name on the bank's server */
        path: string
        by: string
        reason: string
        /** when */
        at: string
        /** held: a person has to look */
        state: 'waiting' | 'held' | 'arrived'
        /** why it has not arrived yet */
        fault: string | null
      } | null
      /** whether it may go to the bank's server by SFTP */
      can_send: boolean
      reports: {
        id: string
        by: string
        /** when */
        at: string
        /** what fits no payment of the file, and changed nothing */
        breaks: {
          what: string
          found: string
          code: string | null
        }[]
      }[]
      /** who had it sealed again for a later day */
      reseals: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      /** payouts that two people ended, and not the bank */
      ends: {
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        how: 'taken_out' | 'abandoned'
        count: number
        /** what two people decided */
        proposal: string
        reason: string
        /** when */
        at: string
      }[]
      /** what waits for a second person */
      proposals: {
        id: string
        action: string
        by: string
        /** when */
        at: string
      }[]
      items: {
        txn_id: string
        /** by which the bank names it; null in a draft */
        code: string | null
        /** to pay */
        amount: number
        /** what became of the payout */
        state:
          | 'waiting'
          | 'dropped'
          | 'accepted'
          | 'paid'
          | 'rejected'
          | 'unknown'
          | 'cancelled'
          | 'returned'
        /** what the bank said of it last */
        said: string | null
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        ended: 'taken_out' | 'abandoned' | null
        payee: {
          name: string
          account_no: string
          bank: string
        }
      }[]
    }
  }
  'POST /console/api/payout-files/{id}/sent': {
    query: Record<string, never>
    body: {
      /** the bank's own number of the file */
      bank_reference: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      account: string
      /** where the file is in its life */
      state:
        | 'draft'
        | 'approving'
        | 'approved'
        | 'exported'
        | 'sent'
        | 'acknowledged'
        | 'closed'
        | 'cancelled'
      /** what an approval has to name */
      digest: string
      count: number
      /** of all items */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      format: string
      made_by: string
      /** when the draft was made */
      made_at: string
      /** the bank has debited its payouts already: it is never sealed */
      already_paid: boolean
      /** the one debit that paid all of it, as who approves says; else null */
      debit: {
        movement: string
        /** that left */
        amount: number
        /** of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house */
        rest: number
        day: string
        text: string
      } | null
      /** withdrawals of the draft that ended before the approval */
      dropped: number
      banks: {
        bank: string
        count: number
        /** of the bank's items */
        sum: number
      }[]
      sealed: {
        name: string
        message_id: string
        execution_date: string
        sha256: string
        /** when the bytes were fixed */
        sealed_at: string
        /** whether it would be for a later day now */
        is_over: boolean
      } | null
      approvals: {
        round: number
        digest: string
        by: string
        /** when */
        at: string
      }[]
      downloads: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      sent: {
        by: string
        bank_reference: string
        /** when */
        at: string
      } | null
      put: {
        /** its name on the bank's server */
        path: string
        by: string
        reason: string
        /** when */
        at: string
        /** held: a person has to look */
        state: 'waiting' | 'held' | 'arrived'
        /** why it has not arrived yet */
        fault: string | null
      } | null
      /** whether it may go to the bank's server by SFTP */
      can_send: boolean
      reports: {
        id: string
        by: string
        /** when */
        at: string
        /** what fits no payment of the file, and changed nothing */
        breaks: {
          what: string
          found: string
          code: string | null
        }[]
      }[]
      /** who had it sealed again for a later day */
      reseals: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      /** payouts that two people ended, and not the bank */
      ends: {
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        how: 'taken_out' | 'abandoned'
        count: number
        /** what two people decided */
        proposal: string
        reason: string
        /** when */
        at: string
      }[]
      /** what waits for a second person */
      proposals: {
        id: string
        action: string
        by: string
        /** when */
        at: string
      }[]
      items: {
        txn_id: string
        /** by which the bank names it; null in a draft */
        code: string | null
        /** to pay */
        amount: number
        /** what became of the payout */
        state:
          | 'waiting'
          | 'dropped'
          | 'accepted'
          | 'paid'
          | 'rejected'
          | 'unknown'
          | 'cancelled'
          | 'returned'
        /** what the bank said of it last */
        said: string | null
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        ended: 'taken_out' | 'abandoned' | null
        payee: {
          name: string
          account_no: string
          bank: string
        }
      }[]
    }
  }
  'POST /console/api/payout-files/{id}/status': {
    query: Record<string, never>
    body: {
      /** a pain.002 file: its text, or in base64; at most 8 MiB */
      content: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      account: string
      /** where the file is in its life */
      state:
        | 'draft'
        | 'approving'
        | 'approved'
        | 'exported'
        | 'sent'
        | 'acknowledged'
        | 'closed'
        | 'cancelled'
      /** what an approval has to name */
      digest: string
      count: number
      /** of all items */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      format: string
      made_by: string
      /** when the draft was made */
      made_at: string
      /** the bank has debited its payouts already: it is never sealed */
      already_paid: boolean
      /** the one debit that paid all of it, as who approves says; else null */
      debit: {
        movement: string
        /** that left */
        amount: number
        /** of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house */
        rest: number
        day: string
        text: string
      } | null
      /** withdrawals of the draft that ended before the approval */
      dropped: number
      banks: {
        bank: string
        count: number
        /** of the bank's items */
        sum: number
      }[]
      sealed: {
        name: string
        message_id: string
        execution_date: string
        sha256: string
        /** when the bytes were fixed */
        sealed_at: string
        /** whether it would be for a later day now */
        is_over: boolean
      } | null
      approvals: {
        round: number
        digest: string
        by: string
        /** when */
        at: string
      }[]
      downloads: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      sent: {
        by: string
        bank_reference: string
        /** when */
        at: string
      } | null
      put: {
        /** its name on the bank's server */
        path: string
        by: string
        reason: string
        /** when */
        at: string
        /** held: a person has to look */
        state: 'waiting' | 'held' | 'arrived'
        /** why it has not arrived yet */
        fault: string | null
      } | null
      /** whether it may go to the bank's server by SFTP */
      can_send: boolean
      reports: {
        id: string
        by: string
        /** when */
        at: string
        /** what fits no payment of the file, and changed nothing */
        breaks: {
          what: string
          found: string
          code: string | null
        }[]
      }[]
      /** who had it sealed again for a later day */
      reseals: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      /** payouts that two people ended, and not the bank */
      ends: {
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        how: 'taken_out' | 'abandoned'
        count: number
        /** what two people decided */
        proposal: string
        reason: string
        /** when */
        at: string
      }[]
      /** what waits for a second person */
      proposals: {
        id: string
        action: string
        by: string
        /** when */
        at: string
      }[]
      items: {
        txn_id: string
        /** by which the bank names it; null in a draft */
        code: string | null
        /** to pay */
        amount: number
        /** what became of the payout */
        state:
          | 'waiting'
          | 'dropped'
          | 'accepted'
          | 'paid'
          | 'rejected'
          | 'unknown'
          | 'cancelled'
          | 'returned'
        /** what the bank said of it last */
        said: string | null
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        ended: 'taken_out' | 'abandoned' | null
        payee: {
          name: string
          account_no: string
          bank: string
        }
      }[]
      /** the id of what the bank answered */
      report: string
      /** it was brought before */
      repeated: boolean
      accepted: number
      paid: number
      /** the bank calls them duplicates: their money stays held */
      unknown: number
      /** they wait until a second person has confirmed it */
      refused: number
      /** what the second person decides on */
      proposal: string | null
      /** what fits no payment of the file, and changed nothing */
      breaks: {
        what: string
        found: string
        code: string | null
      }[]
    }
  }
  'POST /console/api/payout-files/{id}/take-out': {
    query: Record<string, never>
    body: {
      /** of the payouts to take out */
      codes: string[]
      /** whether another provider may pay them; if not, their orders fail */
      may_try_another: boolean
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      id: string
      account: string
      /** where the file is in its life */
      state:
        | 'draft'
        | 'approving'
        | 'approved'
        | 'exported'
        | 'sent'
        | 'acknowledged'
        | 'closed'
        | 'cancelled'
      /** what an approval has to name */
      digest: string
      count: number
      /** of all items */
      sum: number
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      format: string
      made_by: string
      /** when the draft was made */
      made_at: string
      /** the bank has debited its payouts already: it is never sealed */
      already_paid: boolean
      /** the one debit that paid all of it, as who approves says; else null */
      debit: {
        movement: string
        /** that left */
        amount: number
        /** of it that is none of these payouts: what the bank charged, and what ended before it was handed over; a cost of the house */
        rest: number
        day: string
        text: string
      } | null
      /** withdrawals of the draft that ended before the approval */
      dropped: number
      banks: {
        bank: string
        count: number
        /** of the bank's items */
        sum: number
      }[]
      sealed: {
        name: string
        message_id: string
        execution_date: string
        sha256: string
        /** when the bytes were fixed */
        sealed_at: string
        /** whether it would be for a later day now */
        is_over: boolean
      } | null
      approvals: {
        round: number
        digest: string
        by: string
        /** when */
        at: string
      }[]
      downloads: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      sent: {
        by: string
        bank_reference: string
        /** when */
        at: string
      } | null
      put: {
        /** its name on the bank's server */
        path: string
        by: string
        reason: string
        /** when */
        at: string
        /** held: a person has to look */
        state: 'waiting' | 'held' | 'arrived'
        /** why it has not arrived yet */
        fault: string | null
      } | null
      /** whether it may go to the bank's server by SFTP */
      can_send: boolean
      reports: {
        id: string
        by: string
        /** when */
        at: string
        /** what fits no payment of the file, and changed nothing */
        breaks: {
          what: string
          found: string
          code: string | null
        }[]
      }[]
      /** who had it sealed again for a later day */
      reseals: {
        by: string
        reason: string
        /** when */
        at: string
      }[]
      /** payouts that two people ended, and not the bank */
      ends: {
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        how: 'taken_out' | 'abandoned'
        count: number
        /** what two people decided */
        proposal: string
        reason: string
        /** when */
        at: string
      }[]
      /** what waits for a second person */
      proposals: {
        id: string
        action: string
        by: string
        /** when */
        at: string
      }[]
      items: {
        txn_id: string
        /** by which the bank names it; null in a draft */
        code: string | null
        /** to pay */
        amount: number
        /** what became of the payout */
        state:
          | 'waiting'
          | 'dropped'
          | 'accepted'
          | 'paid'
          | 'rejected'
          | 'unknown'
          | 'cancelled'
          | 'returned'
        /** what the bank said of it last */
        said: string | null
        /** how two people ended a payout: taken_out before anybody had the file, abandoned if the bank has not paid it and never will */
        ended: 'taken_out' | 'abandoned' | null
        payee: {
          name: string
          account_no: string
          bank: string
        }
      }[]
    }
  }
  'POST /console/api/provider-routes/try': {
    query: Record<string, never>
    body: {
      /** a list of at most 500 routes, each with all its fields */
      routes: {
        /** the name of a provider */
        provider: string
        /** its name, of at most 32 characters */
        route: string
        /** deposit or withdraw */
        direction: 'deposit' | 'withdraw'
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** a list of at most 200 bank codes, or null for all */
        banks: string[] | null
        /** a whole number from 1 to 1000000000000 */
        min_amount: number
        /** a whole number from 1 to 1000000000000 */
        max_amount: number
        /** a whole number from 1 to 1000 */
        preference: number
        /** a whole number from 1 to 1000 */
        weight: number
      }[]
      /** deposit or withdraw */
      direction: 'deposit' | 'withdraw'
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** a bank code */
      bank_code: string
      /** a whole number from 1 to 1000000000000 */
      amount: number
    }
    answer: {
      data: {
        provider: string
        /** null where the provider has no routes */
        route: string | null
        preference: number
        /** how often it is the first of its preference, 0 to 1 */
        share: number
      }[]
      next: null
    }
  }
  'POST /console/api/report-schedules/remove': {
    query: Record<string, never>
    body: {
      /** the id of a schedule */
      id: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        /** the id of a schedule */
        id: string
        /** a name, 1 to 60 characters; files are named after it */
        name: string
        /** an agent's app id */
        app_id: string | null
        /** day, week, month */
        every: 'day' | 'week' | 'month'
        /** the time of day at which it is made, after the period has ended */
        made_at: string
        /** the time zone of periods and of made_at */
        zone: string
        formats: ('csv' | 'xlsx' | 'pdf')[]
        /** every row of the journal, and not only what they come to */
        with_rows: boolean
        /** how it is sent */
        way: 'mail' | 'sftp'
        recipients: string[]
        sftp_host: string | null
        sftp_port: number | null
        sftp_user: string | null
        /** the server's key as ssh-keygen -l writes it */
        sftp_host_key: string | null
        /** the folder that files are put into */
        sftp_folder: string | null
        is_on: boolean
        /** whether a private key for SFTP is kept */
        has_key: boolean
        /** when it was set */
        updated_at: string
        updated_by: string
        /** its last reports, newest first */
        runs: {
          /** a day, week or month, such as 2026-11-16, 2026-W47 or 2026-11 */
          period: string
          /** what became of it */
          state: 'waiting' | 'sent' | 'given_up'
          attempts: number
          /** what went wrong last */
          error: string | null
          /** when it was due */
          created_at: string
          /** when it is tried next */
          due_at: string | null
          /** when it was sent or given up */
          ended_at: string | null
          files: {
            /** csv, xlsx, pdf */
            format: 'csv' | 'xlsx' | 'pdf'
            name: string
            size: number
          }[]
        }[]
      }[]
      /** whether mail is set up */
      mail: boolean
    }
  }
  'POST /console/api/report-schedules/resend': {
    query: Record<string, never>
    body: {
      /** the id of a schedule */
      id: string
      /** a day, week or month, such as 2026-11-16, 2026-W47 or 2026-11 */
      period: string
    }
    answer: Record<string, never>
  }
  'POST /console/api/report-schedules/run': {
    query: Record<string, never>
    body: {
      /** the id of a schedule */
      id: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        /** the id of a schedule */
        id: string
        /** a name, 1 to 60 characters; files are named after it */
        name: string
        /** an agent's app id */
        app_id: string | null
        /** day, week, month */
        every: 'day' | 'week' | 'month'
        /** the time of day at which it is made, after the period has ended */
        made_at: string
        /** the time zone of periods and of made_at */
        zone: string
        formats: ('csv' | 'xlsx' | 'pdf')[]
        /** every row of the journal, and not only what they come to */
        with_rows: boolean
        /** how it is sent */
        way: 'mail' | 'sftp'
        recipients: string[]
        sftp_host: string | null
        sftp_port: number | null
        sftp_user: string | null
        /** the server's key as ssh-keygen -l writes it */
        sftp_host_key: string | null
        /** the folder that files are put into */
        sftp_folder: string | null
        is_on: boolean
        /** whether a private key for SFTP is kept */
        has_key: boolean
        /** when it was set */
        updated_at: string
        updated_by: string
        /** its last reports, newest first */
        runs: {
          /** a day, week or month, such as 2026-11-16, 2026-W47 or 2026-11 */
          period: string
          /** what became of it */
          state: 'waiting' | 'sent' | 'given_up'
          attempts: number
          /** what went wrong last */
          error: string | null
          /** when it was due */
          created_at: string
          /** when it is tried next */
          due_at: string | null
          /** when it was sent or given up */
          ended_at: string | null
          files: {
            /** csv, xlsx, pdf */
            format: 'csv' | 'xlsx' | 'pdf'
            name: string
            size: number
          }[]
        }[]
      }[]
      /** whether mail is set up */
      mail: boolean
    }
  }
  'POST /console/api/restores/{id}/release': {
    query: Record<string, never>
    body: {
      /** what was found of each open difference */
      differences?: {
        /** which one */
        subject: string
        /** not_paid: its order leaves again; has_it: its order is with this provider, who is asked; seen: it concerns no order that waits */
        finding: 'not_paid' | 'has_it' | 'seen'
        /** by which the provider has it */
        reference?: string
      }[]
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** what holds payouts back; empty if nothing does */
      data: {
        id: string
        /** what happened since may be missing here */
        since: string
        /** when it was noticed or said */
        at: string
        found: string
        /** the epoch of the events since */
        epoch: number
        /** when all providers had been asked; null: they are being asked */
        asked_at: string | null
        differences: {
          subject: string
          words: string
          /** the order that it is about */
          txn_id: string | null
          /** who may have that order */
          provider: string | null
          /** by which it may have it */
          references: string[]
          /** whether it has to be named when payouts are released */
          open: boolean
        }[]
      }[]
    }
  }
  'POST /console/api/set-up/backup': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
    }
    answer: Record<string, never>
  }
  'POST /console/api/shared-views': {
    query: Record<string, never>
    body: {
      /** 1 to 60 characters */
      name: string
      /** as they stand in the address */
      filters: string
    }
    answer: {
      data: {
        /** 1 to 60 characters */
        name: string
        /** as they stand in the address */
        filters: string
        shared_by: string
      }[]
    }
  }
  'POST /console/api/shared-views/forget': {
    query: Record<string, never>
    body: {
      /** 1 to 60 characters */
      name: string
    }
    answer: {
      data: {
        /** 1 to 60 characters */
        name: string
        /** as they stand in the address */
        filters: string
        shared_by: string
      }[]
    }
  }
  'POST /console/api/sign-in': {
    query: Record<string, never>
    body: {
      /** an email address */
      email: string
      /** a password of 12 to 256 characters */
      password: string
      /** the code the authenticator shows */
      code: string
    }
    answer: {
      user: {
        id: string
        email: string
        /** one of admin, operator, viewer, agent */
        role: 'admin' | 'operator' | 'viewer' | 'agent'
        /** the agent, for a user of one */
        app_id: string | null
        agent_name: string | null
      }
      permissions: string[]
      /** for an operator who sees the console as the users of an agent do */
      view: {
        /** when this ends by itself */
        until: string | null
      } | null
      mode: 'sandbox' | 'live'
      /** the zone in which the service counts its days */
      time_zone: string
      preferences: {
        /** the zone in which I read times; null: the service's */
        time_zone: string | null
        /** in which I read the console, such as th; null: the browser's */
        language: string | null
      }
      version: string
      /** the time of the service */
      now: string
    }
  }
  'POST /console/api/sign-in/passkey': {
    query: Record<string, never>
    body: {
      /** the browser's answer, as JSON text */
      answer: string
    }
    answer: {
      user: {
        id: string
        email: string
        /** one of admin, operator, viewer, agent */
        role: 'admin' | 'operator' | 'viewer' | 'agent'
        /** the agent, for a user of one */
        app_id: string | null
        agent_name: string | null
      }
      permissions: string[]
      /** for an operator who sees the console as the users of an agent do */
      view: {
        /** when this ends by itself */
        until: string | null
      } | null
      mode: 'sandbox' | 'live'
      /** the zone in which the service counts its days */
      time_zone: string
      preferences: {
        /** the zone in which I read times; null: the service's */
        time_zone: string | null
        /** in which I read the console, such as th; null: the browser's */
        language: string | null
      }
      version: string
      /** the time of the service */
      now: string
    }
  }
  'POST /console/api/sign-in/passkey/options': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** for the browser: a PublicKeyCredential…OptionsJSON */
      options: unknown
    }
  }
  'POST /console/api/sign-in/sso/begin': {
    query: Record<string, never>
    body: undefined
    answer: {
      url: string
    }
  }
  'POST /console/api/sign-in/sso/prove': {
    query: Record<string, never>
    body: {
      /** the code the authenticator shows */
      code?: string
      /** the browser's answer to /sign-in/passkey/options, as JSON text */
      answer?: string
    }
    answer: {
      user: {
        id: string
        email: string
        /** one of admin, operator, viewer, agent */
        role: 'admin' | 'operator' | 'viewer' | 'agent'
        /** the agent, for a user of one */
        app_id: string | null
        agent_name: string | null
      }
      permissions: string[]
      /** for an operator who sees the console as the users of an agent do */
      view: {
        /** when this ends by itself */
        until: string | null
      } | null
      mode: 'sandbox' | 'live'
      /** the zone in which the service counts its days */
      time_zone: string
      preferences: {
        /** the zone in which I read times; null: the service's */
        time_zone: string | null
        /** in which I read the console, such as th; null: the browser's */
        language: string | null
      }
      version: string
      /** the time of the service */
      now: string
    }
  }
  'POST /console/api/sign-in/sso/return': {
    query: Record<string, never>
    body: {
      /** what stands after ? */
      query: string
    }
    answer: {
      /** done: signed in; code: send a code; enrol: scan, then send a code */
      next: 'done' | 'code' | 'enrol'
      totp: {
        /** base 32, for typing */
        secret: string
        /** a data: URL of the QR code as PNG */
        qrcode: string
      } | null
    }
  }
  'POST /console/api/sign-out': {
    query: Record<string, never>
    body: undefined
    answer: Record<string, never>
  }
  'POST /console/api/signature-check': {
    query: Record<string, never>
    body: {
      /** an agent's app id */
      app_id: string
      /** request: what you send; callback: what you are sent */
      kind: 'request' | 'callback'
      /** GET, POST */
      method?: string
      /** the path with its query, such as /payment/orders */
      path?: string
      /** the body, byte by byte as it was sent */
      body: string
      /** the header x-signature */
      signature: string
    }
    answer: {
      matches: boolean
      /** what is wrong, and what to do */
      says: string
      /** the text to be signed, as the service puts it together */
      signed_text: string
      /** the signatures sent */
      got: string[]
      /** how the right ones begin, one for each live secret */
      expected: string[]
      /** how old t is; negative: from the future */
      age_s: number | null
    }
  }
  'POST /console/api/slips': {
    query: Record<string, never>
    body: {
      /** a JPEG, PNG or WebP picture in base64, at most 4 MiB */
      content: string
    }
    answer: {
      /** the digest of a picture that was brought before */
      slip: string
      type: string
    }
  }
  'POST /console/api/stops': {
    query: Record<string, never>
    body: {
      /** an agent's app id */
      app_id?: string
      /** stop deposits as well */
      deposits?: boolean
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        id: string
        /** null: everything */
        app_id: string | null
        /** whether deposits are stopped as well */
        deposits: boolean
        /** when it was stopped */
        at: string
        by: string
        reason: string
      }[]
    }
  }
  'POST /console/api/stops/{id}/lift': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        id: string
        /** null: everything */
        app_id: string | null
        /** whether deposits are stopped as well */
        deposits: boolean
        /** when it was stopped */
        at: string
        by: string
        reason: string
      }[]
    }
  }
  'POST /console/api/test-orders': {
    query: Record<string, never>
    body: {
      /** an agent's app id */
      agent?: string
      /** deposit or withdraw */
      kind: 'deposit' | 'withdraw'
      /** a whole number from 1 to 1000000000000 */
      amount: number
      /** one of the sandbox bank's stories */
      story?: string
      /** 1 to 64 printable characters */
      ref_id?: string
      /** 1 to 64 printable characters */
      user_id?: string
      /** 1 to 128 printable characters */
      account_name?: string
      /** 4 to 34 letters and digits */
      account_no?: string
      /** 1 to 32 printable characters */
      bank_code?: string
    }
    answer: {
      txn_id: string
      /** what the agent API answers */
      answer: unknown
    }
  }
  'POST /console/api/users': {
    query: Record<string, never>
    body: {
      /** an email address */
      email: string
      /** one of admin, operator, viewer, agent */
      role: 'admin' | 'operator' | 'viewer' | 'agent'
      /** the app id of an agent */
      app_id?: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      user: {
        id: string
        email: string
        /** one of admin, operator, viewer, agent */
        role: 'admin' | 'operator' | 'viewer' | 'agent'
        /** the one agent they see */
        app_id: string | null
        /** invited: has no password yet, or not any more */
        state: 'active' | 'invited' | 'disabled'
        /** since when their password signs in no new device; reset them, or let them change it */
        codes_stopped_at: string | null
        /** when they were invited first */
        created_at: string
        /** when they were last there */
        last_seen_at: string | null
      }
      /** for them to choose a password; works once, for 24 hours */
      link: string
    }
  }
  'POST /console/api/users/{id}/reset': {
    query: Record<string, never>
    body: {
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      user: {
        id: string
        email: string
        /** one of admin, operator, viewer, agent */
        role: 'admin' | 'operator' | 'viewer' | 'agent'
        /** the one agent they see */
        app_id: string | null
        /** invited: has no password yet, or not any more */
        state: 'active' | 'invited' | 'disabled'
        /** since when their password signs in no new device; reset them, or let them change it */
        codes_stopped_at: string | null
        /** when they were invited first */
        created_at: string
        /** when they were last there */
        last_seen_at: string | null
      }
      /** for them to choose a password; works once, for 24 hours */
      link: string
    }
  }
  'POST /console/api/view-as/leave': {
    query: Record<string, never>
    body: undefined
    answer: {
      /** the agent whose console it was */
      app_id: string
    }
  }
  'POST /console/api/wallets/{app_id}/adjust': {
    query: Record<string, never>
    body: {
      /** whole units other than 0, negative to debit */
      amount: number
      /** 3 to 500 characters that say why */
      reason: string
      /** 1 to 128 printable characters */
      ref: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** false: this reference was used before */
      changed: boolean
      wallet: {
        /** an agent's app id */
        app_id: string
        agent_name: string
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** available, without what is held or in reserve */
        balance: number
        /** held for waiting withdrawals */
        held: number
        /** held back of paid deposits until its time has come */
        reserve: number
        /** reported for the agent and not yet decided on */
        suspense: number
        /** the other side at the banks */
        clearing: number
        /** charged to the agent since they were last moved to the house */
        fees: number
        /** charged by providers since they were last moved to the house; negative */
        costs: number
        /** the other side of adjustments */
        adjustments: number
        /** moved to the house */
        transfers: number
        /** the journal row these balances are after */
        seq: number
      }
    }
  }
  'PUT /console/api/agents/{app_id}/callback-addresses': {
    query: Record<string, never>
    body: {
      /** an http or https URL, or null */
      deposit_callback?: string | null
      /** an http or https URL, or null */
      withdraw_callback?: string | null
      /** updated_at of the agent as it was read */
      updated_at: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      app_id: string
      name: string
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
      /** active or suspended */
      status: 'active' | 'suspended'
      /** an http or https URL, or null */
      deposit_callback: string | null
      /** an http or https URL, or null */
      withdraw_callback: string | null
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      deposit_fee: string
      /** PERCENT%, FIXED or PERCENT%+FIXED */
      withdraw_fee: string
      /** PERCENT%/DAYS with at most two decimals, such as 7.5%/90, or none */
      reserve: string
      /** return or keep: the fee of a payout that came back */
      revert_fee: 'return' | 'keep'
      /** review or credit: money late or of another amount */
      late_money: 'review' | 'credit'
      /** off or daily or weekly: when the balance is paid out */
      settle: 'off' | 'daily' | 'weekly'
      /** whole units */
      settle_keep: number
      /** 1 to 200 printable characters */
      settle_to: string | null
      /** one of link, link+qrcode, link+transfer, link+qrcode+transfer */
      method: 'link' | 'link+qrcode' | 'link+transfer' | 'link+qrcode+transfer'
      /** 1 to 2592000 seconds */
      expires_in: number
      /** whole units */
      min_deposit: number
      /** whole units */
      max_deposit: number
      /** whole units */
      min_withdraw: number
      /** whole units */
      max_withdraw: number
      /** 0 to 1000000 requests a second */
      rate_limit: number
      /** a list of addresses or CIDR ranges; empty: every address */
      allow_ip: string[]
      /** a list of addresses or CIDR ranges; empty: every address that is allowed */
      withdraw_ip: string[]
      /** a list of origins such as https://shop.example, or only any for every origin, or empty for none; required for a new agent in live */
      frame_origin: string[]
      /** 1 to 2000 printable characters */
      return_url: string | null
      /** 1 to 500 printable characters */
      support: string | null
      /** when it was made */
      created_at: string
      /** when it was last changed; send it with a change */
      updated_at: string
      /** a colour such as #0a7d4f, or null */
      colour: string | null
      /** a data: URL of a PNG, JPEG or WebP picture of at most 32 KiB, or null */
      logo: string | null
      keys: {
        /** 1 or 2 */
        slot: number
        /** when it was made */
        created_at: string
        /** until when it is valid; null: until it is rotated */
        expires_at: string | null
        /** when it last signed a request */
        last_used_at: string | null
      }[]
    }
  }
  'PUT /console/api/agents/{app_id}/looks': {
    query: Record<string, never>
    body: {
      /** a colour such as #0a7d4f, or null */
      colour: string | null
      /** a data: URL of a PNG, JPEG or WebP picture of at most 32 KiB, or null */
      logo: string | null
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** a colour such as #0a7d4f, or null */
      colour: string | null
      /** a data: URL of a PNG, JPEG or WebP picture of at most 32 KiB, or null */
      logo: string | null
    }
  }
  'PUT /console/api/alert-rules': {
    query: Record<string, never>
    body: {
      /** a name, 1 to 60 characters */
      name: string
      /** an agent's app id */
      app_id?: string | null
      /** what it watches for */
      kind:
        | 'payout_unknown'
        | 'lane_probing'
        | 'callbacks_failing'
        | 'success_below'
        | 'balance_below'
        | 'proof_red'
        | 'breaks'
        | 'nothing_for'
      /** minutes, a number, per cent, or an amount, as the kind has it */
      threshold?: string | null
      /** orders that ended in the last so many */
      window_minutes?: number | null
      /** of fewer nothing is said */
      min_orders?: number | null
      /** deposit or withdraw; null: both */
      order_kind?: 'deposit' | 'withdraw' | null
      /** a provider or a bank account; null: each */
      provider?: string | null
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency?:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
        | null
      /** such as 08:00 */
      hours_from?: string | null
      /** such as 08:00 */
      hours_to?: string | null
      /** a time zone such as Asia/Bangkok */
      zone?: string | null
      roles: ('admin' | 'operator' | 'viewer' | 'agent')[]
      people: string[]
      /** where they are told; none: wherever each of them wants to be */
      channels: ('mail' | 'webhook' | 'telegram' | 'line' | 'slack')[]
      is_on: boolean
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        /** a name, 1 to 60 characters */
        name: string
        /** null: each agent */
        app_id: string | null
        /** what it watches for */
        kind:
          | 'payout_unknown'
          | 'lane_probing'
          | 'callbacks_failing'
          | 'success_below'
          | 'balance_below'
          | 'proof_red'
          | 'breaks'
          | 'nothing_for'
        /** minutes, a number, per cent, or an amount, as the kind has it */
        threshold: string | null
        /** orders that ended in the last so many */
        window_minutes: number | null
        /** of fewer nothing is said */
        min_orders: number | null
        /** deposit or withdraw; null: both */
        order_kind: 'deposit' | 'withdraw' | null
        /** a provider or a bank account; null: each */
        provider: string | null
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        /** such as 08:00 */
        hours_from: string | null
        /** such as 08:00 */
        hours_to: string | null
        /** a time zone such as Asia/Bangkok */
        zone: string | null
        roles: ('admin' | 'operator' | 'viewer' | 'agent')[]
        people: string[]
        /** where they are told; none: wherever each of them wants to be */
        channels: ('mail' | 'webhook' | 'telegram' | 'line' | 'slack')[]
        is_on: boolean
        /** what it watches for, in a sentence */
        words: string
        /** when it was last looked at */
        looked_at: string | null
        /** what it has found wrong and told of */
        wrong: {
          /** an app id, a provider, or all */
          subject: string
          /** since when */
          since: string
          words: string
        }[]
        /** when it was set */
        updated_at: string
        updated_by: string
      }[]
    }
  }
  'PUT /console/api/approval-rules': {
    query: Record<string, never>
    body: {
      rules: {
        /** one of actions */
        action: string
        /** an agent's app id */
        app_id: string | null
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        /** whether a second person approves */
        needs_two: boolean
        /** only above this amount, of the currency */
        above: string | null
        /** only an admin approves */
        admin_only: boolean
      }[]
      /** as it was read */
      version: string
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** send it with a change */
      version: string
      /** whether two people are needed where no rule says */
      by_default: boolean
      /** the most that one code confirms of payments together, where no rule says it */
      together: {
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** an amount of the currency */
        most: string
      }[]
      actions: {
        action: string
        title: string
        has_amount: boolean
      }[]
      /** the most special one counts */
      rules: {
        /** one of actions */
        action: string
        /** an agent's app id */
        app_id: string | null
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        /** whether a second person approves */
        needs_two: boolean
        /** only above this amount, of the currency */
        above: string | null
        /** only an admin approves */
        admin_only: boolean
      }[]
    }
  }
  'PUT /console/api/limits': {
    query: Record<string, never>
    body: {
      /** an agent's app id */
      app_id: string | null
      /** 2 to 40 small letters, digits and hyphens */
      name: string
      /** deposit or withdraw */
      kind: 'deposit' | 'withdraw'
      /** amount or orders: at most so much; new_account: an account that was never paid before; blocked, allowed: a list */
      measure: 'amount' | 'orders' | 'new_account' | 'blocked' | 'allowed'
      /** whose orders are added up */
      per?: 'agent' | 'user' | 'account' | null
      /** over which time, in the time zone of the service */
      period?: 'order' | 'hour' | 'day' | 'month' | null
      /** an amount in decimals, or a number of orders */
      most?: string | null
      /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
      currency?:
        | 'THB'
        | 'VND'
        | 'SGD'
        | 'MYR'
        | 'IDR'
        | 'PHP'
        | 'INR'
        | 'BRL'
        | 'EUR'
        | 'CHF'
        | 'GBP'
        | 'USD'
        | null
      /** how long it waits, 1 to 720 */
      hours?: number
      /** what the list is of */
      field?: 'account' | 'name' | 'bank' | 'user' | null
      /** what becomes of an order that goes beyond it */
      outcome: 'refuse' | 'hold' | 'wait' | 'note'
      /** what is on the list; an account as number or as bank:number */
      values?: string[]
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        /** null: each agent by itself */
        app_id: string | null
        /** 2 to 40 small letters, digits and hyphens */
        name: string
        /** deposit or withdraw */
        kind: 'deposit' | 'withdraw'
        /** amount or orders: at most so much; new_account: an account that was never paid before; blocked, allowed: a list */
        measure: 'amount' | 'orders' | 'new_account' | 'blocked' | 'allowed'
        /** whose orders are added up */
        per: 'agent' | 'user' | 'account' | null
        /** over which time, in the time zone of the service */
        period: 'order' | 'hour' | 'day' | 'month' | null
        /** an amount in decimals, or a number of orders */
        most: string | null
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
          | null
        /** how long it waits, 1 to 720 */
        hours: number | null
        /** what the list is of */
        field: 'account' | 'name' | 'bank' | 'user' | null
        /** what becomes of an order that goes beyond it */
        outcome: 'refuse' | 'hold' | 'wait' | 'note'
        /** what is on the list; an account as number or as bank:number */
        values: string[]
        /** the rule in a sentence */
        words: string
        /** orders of before it are still being counted: until then it knows only a part */
        counting: boolean
        /** when what is used now frees */
        frees_at: string | null
        /** who uses most of it now, at most five */
        used: {
          app_id: string
          /** the user, or bank:account; masked for viewers */
          subject: string
          /** of the limit, now */
          used: string
          /** of the limit, 1 is all */
          share: number
        }[]
        /** when it was set */
        updated_at: string
        updated_by: string
      }[]
    }
  }
  'PUT /console/api/me/alerts/channels': {
    query: Record<string, never>
    body: {
      /** one of webhook, telegram, line, slack */
      channel: 'webhook' | 'telegram' | 'line' | 'slack'
      /** a URL, the id of a Telegram chat, the id of a LINE user, or the URL of an incoming webhook of Slack */
      target: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** signs the requests to a webhook */
      secret: string | null
    }
  }
  'PUT /console/api/me/alerts/choices': {
    query: Record<string, never>
    body: {
      /** one of approval_waiting, payout_unknown, payout_alarm, proof_red, reconcile_break, callbacks_failing, bank_connection, bank_account_full, rule_fired, rule_over, digest */
      kind:
        | 'approval_waiting'
        | 'payout_unknown'
        | 'payout_alarm'
        | 'proof_red'
        | 'reconcile_break'
        | 'callbacks_failing'
        | 'bank_connection'
        | 'bank_account_full'
        | 'rule_fired'
        | 'rule_over'
        | 'digest'
      channels: ('mail' | 'webhook' | 'telegram' | 'line' | 'slack')[]
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** from when to when I am not told what can wait, and when I get a digest of the day before; null: never */
      times: {
        /** a time zone such as Asia/Bangkok */
        zone: string
        /** a time of day such as 22:00 */
        quiet_from: string | null
        /** a time of day such as 22:00 */
        quiet_to: string | null
        /** a time of day such as 22:00 */
        digest_at: string | null
      }
      channels: {
        /** one of mail, webhook, telegram, line, slack */
        channel: 'mail' | 'webhook' | 'telegram' | 'line' | 'slack'
        /** whether the service is set up for it */
        available: boolean
        /** where it leads, if that is set */
        target: string | null
      }[]
      kinds: {
        /** what it is about */
        kind:
          | 'sign_in_new_place'
          | 'account_changed'
          | 'authority_changed'
          | 'new_secret'
          | 'callback_changed'
          | 'bank_account_changed'
          | 'approval_waiting'
          | 'payout_unknown'
          | 'payout_alarm'
          | 'proof_red'
          | 'reconcile_break'
          | 'callbacks_failing'
          | 'bank_connection'
          | 'bank_account_full'
          | 'rule_fired'
          | 'rule_over'
          | 'digest'
        title: string
        /** about security: to every channel that I have */
        always: boolean
        /** where I want to hear of it */
        channels: ('mail' | 'webhook' | 'telegram' | 'line' | 'slack')[]
      }[]
      latest: {
        kind: string
        words: string
        count: number
        /** one of mail, webhook, telegram, line, slack */
        channel: 'mail' | 'webhook' | 'telegram' | 'line' | 'slack'
        /** what became of it */
        state: 'waiting' | 'held' | 'gathered' | 'sent' | 'given_up'
        attempts: number
        /** what went wrong last */
        error: string | null
        /** when it last happened */
        at: string
      }[]
    }
  }
  'PUT /console/api/me/alerts/times': {
    query: Record<string, never>
    body: {
      /** a time zone such as Asia/Bangkok */
      zone: string
      /** a time of day such as 22:00 */
      quiet_from: string | null
      /** a time of day such as 22:00 */
      quiet_to: string | null
      /** a time of day such as 22:00 */
      digest_at: string | null
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** from when to when I am not told what can wait, and when I get a digest of the day before; null: never */
      times: {
        /** a time zone such as Asia/Bangkok */
        zone: string
        /** a time of day such as 22:00 */
        quiet_from: string | null
        /** a time of day such as 22:00 */
        quiet_to: string | null
        /** a time of day such as 22:00 */
        digest_at: string | null
      }
      channels: {
        /** one of mail, webhook, telegram, line, slack */
        channel: 'mail' | 'webhook' | 'telegram' | 'line' | 'slack'
        /** whether the service is set up for it */
        available: boolean
        /** where it leads, if that is set */
        target: string | null
      }[]
      kinds: {
        /** what it is about */
        kind:
          | 'sign_in_new_place'
          | 'account_changed'
          | 'authority_changed'
          | 'new_secret'
          | 'callback_changed'
          | 'bank_account_changed'
          | 'approval_waiting'
          | 'payout_unknown'
          | 'payout_alarm'
          | 'proof_red'
          | 'reconcile_break'
          | 'callbacks_failing'
          | 'bank_connection'
          | 'bank_account_full'
          | 'rule_fired'
          | 'rule_over'
          | 'digest'
        title: string
        /** about security: to every channel that I have */
        always: boolean
        /** where I want to hear of it */
        channels: ('mail' | 'webhook' | 'telegram' | 'line' | 'slack')[]
      }[]
      latest: {
        kind: string
        words: string
        count: number
        /** one of mail, webhook, telegram, line, slack */
        channel: 'mail' | 'webhook' | 'telegram' | 'line' | 'slack'
        /** what became of it */
        state: 'waiting' | 'held' | 'gathered' | 'sent' | 'given_up'
        attempts: number
        /** what went wrong last */
        error: string | null
        /** when it last happened */
        at: string
      }[]
    }
  }
  'PUT /console/api/me/preferences': {
    query: Record<string, never>
    body: {
      /** the zone in which I read times; null: the service's */
      time_zone: string | null
      /** in which I read the console, such as th; null: the browser's */
      language: string | null
    }
    answer: {
      user: {
        id: string
        email: string
        /** one of admin, operator, viewer, agent */
        role: 'admin' | 'operator' | 'viewer' | 'agent'
        /** the agent, for a user of one */
        app_id: string | null
        agent_name: string | null
      }
      permissions: string[]
      /** for an operator who sees the console as the users of an agent do */
      view: {
        /** when this ends by itself */
        until: string | null
      } | null
      mode: 'sandbox' | 'live'
      /** the zone in which the service counts its days */
      time_zone: string
      preferences: {
        /** the zone in which I read times; null: the service's */
        time_zone: string | null
        /** in which I read the console, such as th; null: the browser's */
        language: string | null
      }
      version: string
      /** the time of the service */
      now: string
    }
  }
  'PUT /console/api/provider-routes': {
    query: Record<string, never>
    body: {
      /** version of the routes as read */
      version: string
      /** a list of at most 500 routes, each with all its fields */
      routes: {
        /** the name of a provider */
        provider: string
        /** its name, of at most 32 characters */
        route: string
        /** deposit or withdraw */
        direction: 'deposit' | 'withdraw'
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** a list of at most 200 bank codes, or null for all */
        banks: string[] | null
        /** a whole number from 1 to 1000000000000 */
        min_amount: number
        /** a whole number from 1 to 1000000000000 */
        max_amount: number
        /** a whole number from 1 to 1000 */
        preference: number
        /** a whole number from 1 to 1000 */
        weight: number
      }[]
      /** 3 to 500 characters that say why */
      reason: string
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      /** send it with a change */
      version: string
      routes: {
        /** the name of a provider */
        provider: string
        /** its name, of at most 32 characters */
        route: string
        /** deposit or withdraw */
        direction: 'deposit' | 'withdraw'
        /** THB, VND, SGD, MYR, IDR, PHP, INR, BRL, EUR, CHF, GBP, or USD */
        currency:
          | 'THB'
          | 'VND'
          | 'SGD'
          | 'MYR'
          | 'IDR'
          | 'PHP'
          | 'INR'
          | 'BRL'
          | 'EUR'
          | 'CHF'
          | 'GBP'
          | 'USD'
        /** a list of at most 200 bank codes, or null for all */
        banks: string[] | null
        /** a whole number from 1 to 1000000000000 */
        min_amount: number
        /** a whole number from 1 to 1000000000000 */
        max_amount: number
        /** a whole number from 1 to 1000 */
        preference: number
        /** a whole number from 1 to 1000 */
        weight: number
      }[]
    }
  }
  'PUT /console/api/report-schedules': {
    query: Record<string, never>
    body: {
      /** the id of a schedule */
      id?: string | null
      /** a name, 1 to 60 characters; files are named after it */
      name: string
      /** an agent's app id */
      app_id: string | null
      /** day, week, month */
      every: 'day' | 'week' | 'month'
      /** the time of day at which it is made, after the period has ended */
      made_at: string
      /** the time zone of periods and of made_at */
      zone: string
      formats: ('csv' | 'xlsx' | 'pdf')[]
      /** every row of the journal, and not only what they come to */
      with_rows: boolean
      /** how it is sent */
      way: 'mail' | 'sftp'
      recipients: string[]
      is_on: boolean
      sftp_host?: string | null
      sftp_port?: number | null
      sftp_user?: string | null
      /** the server's key as ssh-keygen -l writes it */
      sftp_host_key?: string | null
      /** the folder that files are put into */
      sftp_folder?: string | null
      /** a private key; left out: the one it has */
      sftp_key?: string | null
      /** the six digits the authenticator shows now, or what /me/passkeys/prove has just answered */
      code?: string
    }
    answer: {
      data: {
        /** the id of a schedule */
        id: string
        /** a name, 1 to 60 characters; files are named after it */
        name: string
        /** an agent's app id */
        app_id: string | null
        /** day, week, month */
        every: 'day' | 'week' | 'month'
        /** the time of day at which it is made, after the period has ended */
        made_at: string
        /** the time zone of periods and of made_at */
        zone: string
        formats: ('csv' | 'xlsx' | 'pdf')[]
        /** every row of the journal, and not only what they come to */
        with_rows: boolean
        /** how it is sent */
        way: 'mail' | 'sftp'
        recipients: string[]
        sftp_host: string | null
        sftp_port: number | null
        sftp_user: string | null
        /** the server's key as ssh-keygen -l writes it */
        sftp_host_key: string | null
        /** the folder that files are put into */
        sftp_folder: string | null
        is_on: boolean
        /** whether a private key for SFTP is kept */
        has_key: boolean
        /** when it was set */
        updated_at: string
        updated_by: string
        /** its last reports, newest first */
        runs: {
          /** a day, week or month, such as 2026-11-16, 2026-W47 or 2026-11 */
          period: string
          /** what became of it */
          state: 'waiting' | 'sent' | 'given_up'
          attempts: number
          /** what went wrong last */
          error: string | null
          /** when it was due */
          created_at: string
          /** when it is tried next */
          due_at: string | null
          /** when it was sent or given up */
          ended_at: string | null
          files: {
            /** csv, xlsx, pdf */
            format: 'csv' | 'xlsx' | 'pdf'
            name: string
            size: number
          }[]
        }[]
      }[]
      /** whether mail is set up */
      mail: boolean
    }
  }
}
