import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Makes a Debian package of the npm package, with the packages that it needs in it. `npm run package:deb` makes both.
 * What is native in them is for the machine that it is made on.
 */

const here = fileURLToPath(new URL('.', import.meta.url))
const root = fileURLToPath(new URL('../..', import.meta.url))
const out = join(root, 'build')
const { version, engines } = JSON.parse(readFileSync(join(root, 'server/package.json'), 'utf8'))

const run = (file, args, cwd = root) =>
  execFileSync(file, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()

function install(path, to, mode) {
  const target = join(tree, to)
  mkdirSync(join(target, '..'), { recursive: true })
  cpSync(path, target)
  run('chmod', [mode, target])
}

const tree = join(out, 'deb')
rmSync(tree, { recursive: true, force: true })
const program = join(tree, 'usr/lib/sluice')
mkdirSync(program, { recursive: true })
run('tar', ['-xzf', join(out, `sluice-${version}.tgz`), '-C', program, '--strip-components=1'])
// Exactly the packages of the lock file; none of their scripts is needed.
run('npm', ['ci', '--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--silent'], program)
run('chmod', ['-R', 'u=rwX,go=rX', join(tree, 'usr')])

install(join(here, 'sluice'), 'usr/bin/sluice', '0755')
install(join(here, 'sluice.service'), 'usr/lib/systemd/system/sluice.service', '0644')
install(join(here, 'sluice.env'), 'etc/sluice/sluice.env', '0640')
install(join(root, 'LICENSE'), 'usr/share/doc/sluice/copyright', '0644')
for (const name of readdirSync(join(root, 'docs')).filter((each) => each.endsWith('.md'))) {
  install(join(root, 'docs', name), `usr/share/doc/sluice/${name}`, '0644')
}
for (const name of ['postinst', 'prerm', 'postrm'])
  install(join(here, name), `DEBIAN/${name}`, '0755')
writeFileSync(join(tree, 'DEBIAN/conffiles'), '/etc/sluice/sluice.env\n')
const architecture = run('dpkg', ['--print-architecture'])
const sizeKiB = run('du', ['-sk', '--exclude=DEBIAN', tree]).split(/\s/)[0]
const control = {
  Package: 'sluice',
  Version: version,
  Architecture: architecture,
  Maintainer: 'The operator of this service <root@localhost>',
  'Installed-Size': sizeKiB,
  Depends: `nodejs (${engines.node.replace(/^>=/, '>= ')}), adduser, util-linux, ca-certificates`,
  Section: 'net',
  Priority: 'optional',
  Description:
    'payment order service on a provable ledger\n Deposits and withdrawals for agents over signed HTTP, with callbacks, a payment\n page, a console and double-entry books.',
}
writeFileSync(
  join(tree, 'DEBIAN/control'),
  Object.entries(control)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join(''),
)
const file = join(out, `sluice_${version}_${architecture}.deb`)
run('dpkg-deb', ['--root-owner-group', '--build', tree, file])
console.log(file)
