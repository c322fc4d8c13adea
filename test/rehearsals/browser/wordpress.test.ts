/** The WordPress plugin, in Debian's WordPress: uploaded, set up, used and deleted as an administrator and visitors do. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { unzipSync } from 'fflate';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { describe as reason } from '../../../scripts/stack/advice.ts';
import { zipWordPressPlugin } from '../../../scripts/stack/wordpress-plugin.ts';
import { createPublisher } from '../../support/banner.ts';
import { useBrowser } from '../../support/browser/browser.ts';
import { startSite } from '../../support/browser/site.ts';
import { recordsOf, useStack, withOwnDomain } from '../../support/stack.ts';
import { administrator, findWordPress, startWordPress, type WordPress } from '../../support/wordpress.ts';

const software = await findWordPress(console.log).catch((error) => {
  console.warn(`The WordPress plugin is NOT tested. ${reason(error)}`);
  return undefined;
});
const others = ['wp-consent-api', 'their-cookie-banner'];

/** What our stand-ins and the plugin put into a page. */
interface Consent {
  wp_has_consent(category: string): boolean;
  assentConfig?: object;
}

/** Whatever in the database has our name. WordPress itself notes for a week what was active. */
const traces = `
  $found = [];
  foreach ($wpdb->get_col('show tables') as $table)
    foreach ($wpdb->get_results("select * from $table", ARRAY_A) as $row)
      if (stripos(implode(' ', $row), 'assent') !== false && ($row['option_name'] ?? '') !== 'recently_activated')
        $found[] = [$table, $row];
  echo json_encode($found);`;

describe.skipIf(!software)('the WordPress plugin', () => {
  const visit = useBrowser();
  let wordpress: WordPress;
  let zip: string;
  let admin: Page;

  beforeAll(async () => {
    if (!software) return;
    const folder = mkdtempSync(path.join(inject('folder'), 'wordpress-'));
    zip = path.join(folder, 'assent-wordpress.zip');
    writeFileSync(zip, zipWordPressPlugin('1.2.3'));
    wordpress = await startWordPress(folder, software, others);
  });

  /** These of the other plugins, and none else. */
  const activate = (...names: string[]) => {
    const files = (of: string[]) => JSON.stringify(of.map((name) => `${name}/${name}.php`));
    return wordpress.php(
      `require 'wp-admin/includes/plugin.php'; deactivate_plugins(${files(others)}); activate_plugins(${files(names)});`,
    );
  };
  const openSettings = () => admin.goto(`${wordpress.url}/wp-admin/options-general.php?page=assent`);
  /** Saves the settings, and returns what the page says. */
  const save = async (url: string, domain: string, mode = /^Assent shows/) => {
    await openSettings();
    await admin.getByLabel('Address of the service').fill(url);
    await admin.getByLabel('Domain ID').fill(domain);
    await admin.getByRole('radio', { name: mode }).check();
    await admin.getByRole('button', { name: 'Save and check' }).click();
    await admin.locator('.settings-error').first().waitFor();
    return admin.locator('.settings-error p').allTextContents();
  };
  const inPhp = async (page: Page) => JSON.parse((await page.locator('#in-php').textContent()) ?? '');

  it('is uploaded, set up, used in either mode and deleted', async () => {
    const stack = await withOwnDomain(await useStack());
    const { api, domainId } = stack;
    const away = 'http://127.0.0.1:9';
    const elsewhere = (await startSite()).origin;

    admin = (await visit()).page;
    await admin.goto(`${wordpress.url}/wp-login.php`);
    await admin.getByLabel('Username or Email Address').fill(administrator.name);
    await admin.locator('#user_pass').fill(administrator.password);
    await admin.getByRole('button', { name: 'Log In' }).click();
    await admin.goto(`${wordpress.url}/wp-admin/plugin-install.php?tab=upload`);
    await admin.locator('input[type=file]').setInputFiles(zip);
    await admin.getByRole('button', { name: 'Install Now' }).click();
    await admin.getByRole('link', { name: 'Activate Plugin' }).click();
    await admin.getByText('Plugin activated.').waitFor();

    // before it is set up, pages are as they were
    const read = async () => (await fetch(wordpress.url)).text();
    expect(await read()).not.toContain('/w/');

    // each mistake has its own words, and what can never work is not saved
    expect(await save('ftp://consent.example.com', domainId)).toEqual([
      'The address must begin with https:// or http://.',
    ]);
    expect(await save(elsewhere, domainId)).toEqual(['This is not the address of an Assent service.']);
    expect(await save(api.baseUrl, 'dom_unknown')).toEqual(['The service has no active domain with this ID.']);
    expect(await save(api.baseUrl, 'x')).toEqual(['The domain ID begins with dom_. You find it in the dashboard.']);
    expect(await read()).not.toContain('/w/');
    expect(await save(away, domainId)).toEqual([expect.stringContaining('Saved, but the service does not answer: ')]);
    expect(await save(`${api.baseUrl}/`, domainId)).toEqual([expect.stringContaining('Nothing is published')]);
    await createPublisher(stack).publish({ categories: ['functional', 'analytics', 'marketing'] });
    expect(await save(`${api.baseUrl}/`, domainId)).toEqual([
      'Saved. The service answers, and the banner is published.',
    ]);

    // the banner, without the API: one tag, before everything that the theme and other plugins load
    expect((await read()).match(/<script[^>]* src=[^>]*>/)?.[0]).toBe(
      `<script src="${api.baseUrl}/w/${domainId}.js" defer nowprocket data-noptimize="1" data-no-optimize="1" data-no-defer="1" data-cfasync="false" data-jetpack-boost="ignore" nitro-exclude>`,
    );
    expect(await read()).not.toContain('wp-consent');

    await activate('wp-consent-api');
    const { page, messages } = await visit();
    await page.goto(wordpress.url);
    const banner = page.getByRole('dialog', { name: 'Your privacy, your choice' });
    await banner.waitFor();
    const names = ['functional', 'preferences', 'statistics', 'statistics-anonymous', 'marketing'];
    const allowed = () =>
      page.evaluate((all) => all.filter((name) => (window as unknown as Consent).wp_has_consent(name)), names);
    expect(await allowed()).toEqual(['functional']);
    // nothing is asked for while WordPress makes a page
    expect(await inPhp(page)).toEqual({ statistics: false, requests: 0 });
    await page.getByRole('button', { name: 'Accept all' }).click();
    expect(await recordsOf(stack, 1)).toMatchObject([{ decision: 'accept_all', bannerVersion: '1' }]);
    expect(await allowed()).toEqual(names);
    await page.reload();
    expect(await inPhp(page)).toEqual({ statistics: true, requests: 0 });
    await page.getByRole('button', { name: 'Privacy settings' }).click();
    await page.getByRole('switch', { name: 'Statistics' }).click();
    await page.getByRole('button', { name: 'Save choice' }).click();
    await recordsOf(stack, 2);
    expect(await allowed()).toEqual(['functional', 'preferences', 'marketing']);
    await page.reload();
    expect(await inPhp(page)).toEqual({ statistics: false, requests: 0 });

    // a service that is away
    await page.route(`${api.baseUrl}/**`, (route) => route.abort());
    await page.goto(`${wordpress.url}/?p=1`);
    await page.getByRole('heading', { name: 'Hello world!', exact: true }).waitFor();
    expect(messages.filter((message) => message.startsWith('uncaught'))).toEqual([]);

    // another plugin that also asks
    await activate(...others);
    await openSettings();
    await admin.getByText('Another plugin seems to ask for consent, too: Their cookie banner.').waitFor();

    // its choices are recorded, and ours is not asked for
    const own = await withOwnDomain(stack);
    await createPublisher(own).publish({ categories: ['analytics'] });
    await save(api.baseUrl, own.domainId, /^Another plugin/);
    expect(await admin.locator('.notice-warning').count()).toBe(0);
    const visitor = (await visit()).page;
    const decide = async (name: string, count: number) => {
      await visitor.goto(wordpress.url);
      await visitor.waitForFunction(() => (window as unknown as Consent).assentConfig);
      await visitor.getByRole('button', { name }).click();
      return (await recordsOf(own, count)).at(-1);
    };
    expect(await decide('Yes to theirs', 1)).toMatchObject({
      decision: 'accept_all',
      preferences: { functional: true, statistics: true, marketing: true },
      language: 'en-US',
      pageUrl: `${wordpress.url}/`,
    });
    expect(await visitor.locator('assent-widget').count()).toBe(0);
    expect(await decide('Some of theirs', 2)).toMatchObject({
      decision: 'custom',
      preferences: { functional: true, statistics: true, marketing: false },
    });
    expect(await decide('No to theirs', 3)).toMatchObject({ decision: 'withdraw' });
    expect(await read()).not.toContain('ak_');
    await activate('their-cookie-banner');
    await openSettings();
    await admin.getByText('Nothing is recorded: the WP Consent API plugin is not active.').waitFor();

    // in the language of whoever looks
    await wordpress.php("update_user_meta(1, 'locale', 'de_AT');");
    await openSettings();
    await admin.getByRole('button', { name: 'Speichern und prüfen' }).waitFor();
    await wordpress.php("delete_user_meta(1, 'locale');");

    // gone without a trace
    await admin.goto(`${wordpress.url}/wp-admin/plugins.php`);
    await admin.getByRole('link', { name: 'Deactivate Assent' }).click();
    await admin.getByText('Plugin deactivated.').waitFor();
    admin.once('dialog', (dialog) => dialog.accept());
    await admin.getByRole('link', { name: 'Delete Assent' }).click();
    await admin.getByText('Assent was successfully deleted.').waitFor();
    expect(existsSync(path.join(wordpress.plugins, 'assent'))).toBe(false);
    expect(await wordpress.php(traces)).toBe('[]');
    expect(wordpress.complaints('plugins/assent/')).toEqual([]);
  });

  it('leaves no trace in any site of a network', async () => {
    const { host } = new URL(wordpress.url);
    await wordpress.php(
      `require 'wp-admin/includes/upgrade.php';
       foreach ($wpdb->tables('ms_global') as $name => $table) $wpdb->$name = $table;
       install_network(); populate_network(1, '${host}', 'admin@example.com', 'Shops', '/', false);`,
      { WP_INSTALLING_NETWORK: true },
    );
    const network = {
      MULTISITE: true,
      SUBDOMAIN_INSTALL: false,
      DOMAIN_CURRENT_SITE: host,
      PATH_CURRENT_SITE: '/',
      SITE_ID_CURRENT_SITE: 1,
      BLOG_ID_CURRENT_SITE: 1,
    };
    for (const [file, content] of Object.entries(unzipSync(readFileSync(zip)))) {
      const target = path.join(wordpress.plugins, file);
      mkdirSync(path.dirname(target), { recursive: true });
      writeFileSync(target, content);
    }
    const other = await wordpress.php(
      `require 'wp-admin/includes/plugin.php'; $other = wpmu_create_blog('${host}', '/other/', 'Other', 1);
       activate_plugin('assent/assent.php', '', true);
       foreach ([1, $other] as $site) update_blog_option($site, 'assent', ['url' => 'x', 'domain' => 'dom_x', 'mode' => 'record']);
       echo get_blog_option($other, 'assent')['domain'];`,
      network,
    );
    expect(other).toBe('dom_x');
    await wordpress.php(
      `require 'wp-admin/includes/file.php'; require 'wp-admin/includes/plugin.php';
       deactivate_plugins('assent/assent.php', false, true); delete_plugins(['assent/assent.php']);`,
      network,
    );
    expect(existsSync(path.join(wordpress.plugins, 'assent'))).toBe(false);
    expect(await wordpress.php(traces, network)).toBe('[]');
  });
});
