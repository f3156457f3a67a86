package app

import (
	"slices"

	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/pricing"
)

// pricesOf returns the prices of a service's models. Mocks are free, and so are providers that run on this machine at their
// own address. At any other local address, a model without a known price is free; one with a known price may be a proxy to
// a paid provider.
func (l Services) pricesOf(s *chain.Service) (pricing.Prices, error) {
	if r, ok := l.Reach[s.Name]; ok {
		return r.Prices, nil
	}
	address := l.address(s)
	if l.mocks(s) || s.Free && address == s.URL {
		return pricing.Free, nil
	}
	prices, err := services.ReadPrices(l.Data)
	if err == nil && service.IsLocal(address) {
		prices = prices.OrFree()
	}
	return prices, err
}

// free reports whether all calls of a service are free.
func (l Services) free(s *chain.Service) bool {
	prices, err := l.pricesOf(s)
	if err != nil { // the launch reports it
		return false
	}
	models := l.models(s)
	if s.Embeds != "" {
		models = append(slices.Clone(models), s.Embeds)
	}
	return !slices.ContainsFunc(models, func(model string) bool { return !prices.Costless(model) })
}
