import { createServer, type Socket } from 'node:net'

export interface MailServer {
  url: string
  /** Each mail that was taken, with the addresses that it was sent to. */
  mails: { to: string[]; data: string }[]
  /** The answer to each mail: anything but 250 refuses it. */
  answer: string
  close(): Promise<void>
}

/** A mail server on this machine, as much of one as is needed to send it mail. */
export async function startMailServer(): Promise<MailServer> {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    socket.on('error', () => {})
    let pending = ''
    let to: string[] = []
    let isData = false
    const say = (line: string) => socket.write(`${line}\r\n`)
    say('220 stand-in')
    socket.on('data', (bytes) => {
      pending += bytes.toString()
      for (;;) {
        const end = pending.indexOf(isData ? '\r\n.\r\n' : '\r\n')
        if (end < 0) return
        const line = pending.slice(0, end)
        pending = pending.slice(end + (isData ? 5 : 2))
        if (isData) {
          isData = false
          if (mail.answer.startsWith('250')) mail.mails.push({ to, data: line })
          to = []
          say(mail.answer)
        } else if (/^DATA/i.test(line)) {
          isData = true
          say('354 go on')
        } else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
        else {
          const [, address] = /^RCPT TO:<(.*)>/i.exec(line) ?? []
          if (address !== undefined) to.push(address)
          say('250 ok')
        }
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  const mail: MailServer = {
    url: `smtp://127.0.0.1:${port}`,
    mails: [],
    answer: '250 taken',
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy()
        server.close(() => resolve())
      }),
  }
  return mail
}
