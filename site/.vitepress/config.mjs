import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { defineConfig } from 'vitepress'

const root = join(import.meta.dirname, '../..')

const site = join(root, 'site')

// Pages stand as in the repository, so that a link from one to another is the same in both, but beside the libraries they are made with.
rmSync(join(site, 'pages'), { recursive: true, force: true })
for (const path of [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'docs',
  'src/questions/dictionary.md',
])
  cpSync(join(root, path), join(site, 'pages', path), { recursive: true })

/** Files of the repository that a page links to and that are no pages: they are part of the site as text. */
const linkedFiles = new Set()

export default defineConfig({
  title: 'wynnsync',
  description: 'Remembers what the Wynncraft web API forgets: syncs it into Postgres with full history.',
  lang: 'en',
  srcDir: 'pages',
  rewrites: { 'README.md': 'index.md', ':folder(.+)/README.md': ':folder/index.md' },
  outDir: 'dist',
  base: process.env.SITE_BASE ?? '/',
  // The program makes these pages, after this build.
  ignoreDeadLinks: [/^\/demo\//],
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      // A word in angle brackets within a sentence is text.
      md.disable('html_inline')
      md.core.ruler.push('files', linkFiles)
    },
  },
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'Demo', link: '/demo/', target: '_self' },
      { text: 'Changes', link: '/CHANGELOG' },
    ],
    sidebar: sidebar(),
  },
  buildEnd({ outDir }) {
    for (const path of linkedFiles) {
      const to = join(outDir, 'files', `${path}.txt`)
      mkdirSync(dirname(to), { recursive: true })
      copyFileSync(join(root, path), to)
    }
  },
})

/** The anchor that GitHub makes of a heading, which is what links in the repository name. */
function anchorOf(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}

/** Makes links to files that are no pages lead to their copies; those to folders become plain text. */
function linkFiles({ tokens, env }) {
  for (const { children } of tokens) {
    for (const [index, token] of (children ?? []).entries()) {
      if (token.type !== 'link_open') continue
      const href = token.attrGet('href')
      if (/^([a-z]+:|#|\/)/i.test(href)) continue
      if (/\.md(#|$)/.test(href)) {
        token.attrSet('href', href.replace(/README\.md(?=#|$)/, 'index.md'))
        continue
      }
      const path = posix.join(posix.dirname(env.relativePath), href)
      const isFolder = statSync(join(root, path)).isDirectory()
      if (isFolder) {
        const end = children.findIndex(({ type }, at) => at > index && type === 'link_close')
        for (const one of [token, children[end]]) Object.assign(one, { type: 'text', content: '', tag: '' })
      } else {
        linkedFiles.add(path)
        token.attrSet('href', `/files/${path}.txt`)
      }
    }
  }
}

/** The parts of docs/README.md and the pages that each names, in its order. */
function sidebar() {
  const parts = readFileSync(join(root, 'docs/README.md'), 'utf8').split(/^## /m).slice(1)
  return parts.map((part) => ({
    text: part.slice(0, part.indexOf('\n')),
    items: [...part.matchAll(/^\* \[(.+?)\]\((.+?)\.md\)/gm)].map(([, text, path]) => ({
      text: text.replaceAll('`', ''),
      link: posix.join('/docs', path.replace(/README$/, '')),
    })),
  }))
}
