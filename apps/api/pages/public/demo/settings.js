// What the tag's attributes are too short for: the services of each category.
window.assentConfig = {
  categories: [
    { id: 'necessary', services: [{ name: 'Basket', purpose: 'Remembers what is in it.' }] },
    {
      id: 'functional',
      services: [{ name: 'Map', provider: 'Fern & Kiln', purpose: 'Shows the way to the workshop.' }],
    },
    'analytics',
    {
      id: 'marketing',
      services: [
        { name: 'Workshop film', provider: 'Fern & Kiln', purpose: 'Shows how a bowl is made.' },
        {
          name: 'First order',
          provider: 'Fern & Kiln',
          purpose: 'Remembers that you get 10 % off.',
          cookies: [{ name: 'fern_offer', duration: '30 days' }],
        },
      ],
    },
  ],
};
