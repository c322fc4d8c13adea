/** The OpenAPI document as a page. Only its filter needs a script. */
import { escapeHtml } from '#libs/base/http/html';
import { commandOf } from './command.ts';
import { bodyType, fieldList, parameterList } from './fields.ts';
import { block, code, inline, written } from './markup.ts';
import { type Content, type Operation, readDocument } from './openapi-document.ts';

const titled = (level: number, title: string, content: string): string =>
  content && `<h${level}>${escapeHtml(title)}</h${level}>${content}`;

const bodies = (content: Content, name: string): string =>
  Object.entries(content ?? {})
    .map(([type, { schema, example }]) => `${bodyType(schema)}${block(`${name}, ${type}`, written(example))}`)
    .join('');

function responses({ operationId, responses: all }: Operation): string {
  const entries = Object.entries(all).map(([status, { description, content }]) => {
    const paragraphs = description.split('\n\n').map((line) => `<p>${inline(line)}</p>`);
    // all errors have the same form, which the page describes once
    const shown = status.startsWith('2') ? bodies(content, `Response ${status} of ${operationId}`) : '';
    return `<dt>${status}</dt><dd>${paragraphs.join('')}${shown}</dd>`;
  });
  return `<dl class="responses">${entries.join('')}</dl>`;
}

function section(operation: Operation): string {
  const { operationId, method, path, summary, description, security, parameters = [], requestBody } = operation;
  const schemes = security.flatMap((each) => Object.keys(each)).map((each) => `<a href="#scheme-${each}">${each}</a>`);
  return [
    `<section id="${operationId}">`,
    `<h3>${inline(summary)}</h3>`,
    `<p class="address"><span class="method">${method}</span> ${code(path)}</p>`,
    `<p>${inline(description)}</p>`,
    schemes.length > 0 ? `<p>Credentials: ${schemes.join(' or ')}.</p>` : '<p>No credentials needed.</p>',
    block(`Example request to ${operationId}`, commandOf(operation)),
    titled(4, 'Parameters', parameterList(parameters)),
    titled(4, 'Request body', bodies(requestBody?.content, `Request body of ${operationId}`)),
    titled(4, 'Responses', responses(operation)),
    '</section>',
  ].join('\n');
}

const link = ({ operationId, summary }: Operation): string =>
  `<li><a href="#${operationId}">${inline(summary)}</a></li>`;

/** `address`: where people reach the service, if known. */
export function referencePage(address?: string): string {
  const { info, tags, operations, components } = readDocument();
  const byTag = tags.map((tag) => ({ ...tag, operations: operations.filter(({ tags: [name] }) => name === tag.name) }));
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) =>
      `<section id="schema-${name}"><h3>${escapeHtml(name)}</h3>` +
      `${schema.description ? `<p>${inline(schema.description)}</p>` : ''}${fieldList(schema)}</section>`,
  );
  const schemes = Object.entries(components.securitySchemes).map(
    ([name, { description }]) =>
      `<dt id="scheme-${name}">${escapeHtml(name)}</dt><dd><p>${inline(description)}</p></dd>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Assent API</title>
<link rel="stylesheet" href="docs/docs.css">
<script src="docs/docs.js" type="module"></script>
</head>
<body>
<header>
<p><a href="#top">${escapeHtml(info.title)} API</a></p>
<form role="search" hidden><label>Filter <input type="search" autocomplete="off" spellcheck="false"></label><span role="status"></span></form>
<p class="to-list"><a href="#operations">All operations</a></p>
</header>
<main id="top">
<div class="intro">
<h1>${escapeHtml(info.title)} API</h1>
<p>${inline(info.description)}</p>
<p>Version ${escapeHtml(info.version)}, also available as an OpenAPI document: <a href="openapi.json">/openapi.json</a>.
In the examples, <code>$API</code> is ${address ? code(address) : 'the address of this service'}, <code>$KEY</code> an
API key, and <code>$TOKEN</code> an access token.</p>
<p>Errors are <code>application/problem+json</code>: rely on <code>code</code>, which is listed with each status.</p>
</div>
${byTag
  .map(
    (tag) =>
      `<div class="group"><h2>${escapeHtml(tag.name)}</h2><p>${inline(tag.description)}</p>` +
      `${tag.operations.map(section).join('\n')}</div>`,
  )
  .join('\n')}
<div class="intro">
<h2 id="credentials">Credentials</h2>
<dl>${schemes.join('')}</dl>
</div>
<div class="group">
<h2 id="schemas">Schemas</h2>
${schemas.join('\n')}
</div>
</main>
<nav id="operations" aria-label="Operations">
${byTag
  .map(
    (tag) => `<div class="group"><h2>${escapeHtml(tag.name)}</h2><ul>${tag.operations.map(link).join('')}</ul></div>`,
  )
  .join('\n')}
<h2>More</h2><ul><li><a href="#credentials">Credentials</a></li><li><a href="#schemas">Schemas</a></li></ul>
</nav>
</body>
</html>
`;
}
