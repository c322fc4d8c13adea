/** The built-ins of ECMAScript that a script uses, and what pages make of them. */
import { runInNewContext } from 'node:vm';

/** A way to a built-in, from the window. */
export type Way = string[];

/** All functions that the language has, by their ways: nothing of browsers and nothing of Node. */
const functions: Way[] = JSON.parse(
  runInNewContext(`
    const ways = [];
    const isFunction = (owner, name) => {
      const { value } = Object.getOwnPropertyDescriptor(owner, name) ?? {};
      return typeof value === 'function';
    };
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      const value = globalThis[name];
      if (value !== Object(value) || value === globalThis || name === 'console' || name === 'WebAssembly') continue;
      if (typeof value === 'function') ways.push([name]);
      for (const own of Object.getOwnPropertyNames(value)) if (isFunction(value, own)) ways.push([name, own]);
      for (const own of Object.getOwnPropertyNames(value.prototype ?? {}))
        if (isFunction(value.prototype, own) && own !== 'constructor') ways.push([name, 'prototype', own]);
    }
    JSON.stringify(ways)`),
);

/** Those whose names are in the script, which may mean something else by them. */
export const builtInsIn = (script: string): Way[] =>
  functions.filter((way) => {
    const name = way.at(-1);
    const pattern =
      way.length === 3
        ? `\\.${name}\\b`
        : way.length === 2
          ? `\\b${way.join('\\.')}\\b`
          : `(?<![.\\w$'"\`-])${name}\\(`;
    return new RegExp(pattern).test(script);
  });

/**
 * For a page: runs one frame after the other, each with a window that is spoilt in another way before the widget comes,
 * or when its banner is open. Everything is accepted there, and then taken back in the settings. Returns what was not
 * applied, or not recorded, and how. A case names a library of those below, or has the ways to what throws.
 */
export const hostilePage = `<!doctype html><html lang="en"><head><title>hostile</title></head><body><script>
const libraries = {
  'Prototype 1.7': ({ Array, Object, Function, String, Number, Date }) => {
    Array.from = (list) => { const all = []; for (let at = 0; at < (list?.length ?? 0); at += 1) all[at] = list[at]; return all; };
    const each = function (work) { for (let at = 0; at < this.length; at += 1) work(this[at], at); return this; };
    const map = function (work = (item) => item) { const all = []; each.call(this, (item, at) => all.push(work(item, at))); return all; };
    const filter = function (test) { const all = []; each.call(this, (item, at) => test(item, at) && all.push(item)); return all; };
    const toArray = function () { return map.call(this); };
    Object.assign(Array.prototype, { each, map, collect: map, filter, findAll: filter, select: filter, toArray, entries: toArray, clone: toArray,
      include(item) { return this.indexOf(item) > -1; }, size() { return this.length; }, first() { return this[0]; }, inspect: () => '[]' });
    Object.keys = (object) => { const all = []; for (const name in object) all.push(name); return all; };
    Object.values = (object) => { const all = []; for (const name in object) all.push(object[name]); return all; };
    Function.prototype.bind = function (context) { const method = this; return function () { return method.apply(context, arguments); }; };
    for (const each of [Array, String, Number, Date]) each.prototype.toJSON = function () { return JSON.stringify(String(this)); };
  },
  'MooTools 1.4': (window) => {
    const { Array, Object, Function, String, Date } = window;
    window.Window = window.Document = function () {};
    Array.from = (item) => (item == null ? [] : Array.isArray(item) ? item : [item]);
    Array.prototype.flatten = Array.prototype.append = Array.prototype.each = function () { return this; };
    String.prototype.contains = String.prototype.test = () => false;
    Function.prototype.extend = Function.prototype.implement = function () { return this; };
    Object.values = (object) => { const all = []; for (const name in object) if (object.hasOwnProperty(name)) all.push(object[name]); return all; };
    Date.now = () => new Date();
  },
  'Sugar 1': ({ Array, Object, String }) => {
    String.prototype.at = String.prototype.first = () => '';
    Array.prototype.find = Array.prototype.at = Array.prototype.some = Array.prototype.every = function () { return this[0]; };
    Object.prototype.each = Object.prototype.merge = Object.prototype.extended = function () { return this; };
  },
  'date.js': ({ Date }) => { Date.parse = () => null; Date.prototype.set = Date.prototype.add = function () { return this; }; Date.prototype.toISOString = undefined; },
  'old polyfills': (window) => {
    window.Map = window.Set = window.WeakMap = function () {};
    window.Promise = class extends window.Promise {};
    window.Symbol = (name) => '@@' + name;
    window.Object.entries = window.Object.keys;
    window.Array.prototype.includes = () => false;
    window.Array.prototype.flat = window.Array.prototype.flatMap = undefined;
  },
  nothing: () => {},
};
const thrower = (ways) => (window) => {
  for (const way of ways) makeThrow(window, way);
};
const makeThrow = (window, way) => {
  const owner = way.slice(0, -1).reduce((value, name) => value?.[name], window);
  // not on every page, such as SharedArrayBuffer
  if (!owner) return;
  const throws = function () { throw new Error('spoilt ' + way.join('.')); };
  Object.defineProperty(owner, way.at(-1), { value: throws, configurable: true, writable: true });
};
/** Undefined where it did not come in time. */
const until = async (look) => {
  for (const end = Date.now() + 30_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 10))) {
    const found = look();
    if (found) return found;
  }
};
const counted = { id: 'analytics', services: [{ name: 'Counter', country: 'IE', cookies: [{ name: 'count*' }] }] };
async function run(cases) {
  const troubles = [];
  for (const { name, ways, moment, isOfBrowsers, mayWait } of cases) {
    localStorage.clear();
    // where nothing can be stored, the choice is in a cookie
    for (const cookie of document.cookie.split('; ')) document.cookie = cookie.split('=')[0] + '=; path=/; max-age=0';
    document.cookie = 'counted=1';
    const spoil = libraries[name] ?? thrower(ways);
    window.begin = (frame) => {
      // its lists are the frame's own
      frame.assentConfig = frame.JSON.parse(JSON.stringify({ metadata: { case: name }, categories: [counted, 'marketing'] }));
      if (moment === 'before') spoil(frame);
    };
    const frame = Object.assign(document.createElement('iframe'), { src: '/hostile-frame' });
    document.body.append(frame);
    const inFrame = (selector) => frame.contentDocument?.querySelector(selector);
    const inWidget = (selector) => inFrame('assent-widget')?.shadowRoot.querySelector(selector);
    const trouble = (what) => troubles.push(name + ': ' + what);
    const press = async (selector) => {
      const button = await until(() => inWidget(selector));
      if (selector === accept && moment === 'open' && button) spoil(frame.contentWindow);
      button?.click();
      return button;
    };
    const isClosed = () => isOfBrowsers || !inWidget('dialog[open]');
    const waits = () => Object.keys(localStorage).some((key) => key.includes('.queue.'));
    const isRecorded = () => (mayWait ? waits() : !waits());
    const accept = 'dialog[open] .actions button';
    if (!(await press(accept))) trouble('no banner');
    else if (!(await until(() => inFrame('html').dataset.ran && inFrame('img').src && isClosed()))) trouble('not applied');
    else if (!(await until(isRecorded))) trouble('not recorded');
    else {
      inWidget('.reopen').click();
      // without the second file the first view has one, too
      const withdraw = await press('dialog[open] .actions button + button');
      if (!withdraw) trouble('no settings');
      const isWithdrawn = () => frame.contentWindow.assent.getConsent().decision === 'withdraw';
      if (withdraw && !(await until(() => isWithdrawn() && isClosed()))) trouble('not withdrawn');
      if (!(await until(isRecorded))) trouble('withdrawal not recorded');
      const hasFile = String(ways) !== 'Promise' && !isOfBrowsers;
      if (hasFile && !(await until(() => !document.cookie.includes('counted')))) trouble('a cookie stays');
      if (hasFile && !(await until(() => inFrame('assent-embed')))) trouble('no placeholder');
    }
    frame.remove();
    // each takes its time, and a test has an end
    if (troubles.length > 2) break;
  }
  return troubles;
}
</script></body></html>`;
