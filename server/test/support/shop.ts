import { once } from 'node:events'
import { createServer } from 'node:http'
import { neverIdle } from './receiver.ts'

/** A shop of another origin, which opens payment pages with the loader. */
export interface Shop {
  origin: string
  close(): Promise<void>
}

/** `sluice` is where the loader is served. */
export async function openShop(sluice: () => string): Promise<Shop> {
  const server = createServer(neverIdle, (_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(`<!doctype html><html lang="en"><head><title>Shop</title>
<link rel="icon" href="data:,">
<script src="${sluice()}/embed.js"></script></head><body>
<h1>Shop</h1><button id="pay">Pay</button><div id="here"></div>
<script>
const said = []
addEventListener('message', ({ origin, data }) => said.push({ origin, data }))
function openPage(link, options) {
  const heard = []
  document.getElementById('pay').focus()
  window.result = Sluice.open(link, { ...options, onStatus: (status) => heard.push(status) })
    .then((result) => ({ ...result, heard }))
}
</script></body></html>`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = address !== null && typeof address === 'object' ? address.port : 0
  return {
    origin: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
