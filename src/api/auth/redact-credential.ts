/**
 * A parsed body without its secrets: each occurrence in a text or in a key, as it is or encoded for a URL or a form, is
 * replaced. On the parsed body, because JSON may escape a secret's characters.
 */
export function redacted(body: unknown, secrets: readonly string[]): unknown {
  const encoded = secrets.flatMap((secret) => [secret, encodeURIComponent(secret), asFormField(secret)])
  const forms = encoded.filter((form) => form !== '')
  const without = (text: string) => forms.reduce((rest, form) => rest.replaceAll(form, '[credential]'), text)
  const inside = (value: unknown): unknown => {
    if (typeof value === 'string') return without(value)
    if (Array.isArray(value)) return value.map(inside)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [without(name), inside(field)]))
  }
  return forms.length === 0 ? body : inside(body)
}

function asFormField(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1)
}
