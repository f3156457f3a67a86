"""The journey of journey.yaml as users of Locust write it, with its faster client."""
import json
import random
import time

from locust import FastHttpUser, events, task

first = [0.0]
journeys = [0, 0]  # completed, failed


class Shopper(FastHttpUser):
    @task
    def journey(self):
        category, quantity = random.choice(["Dairy", "Fruit", "Bakery"]), random.randint(1, 3)
        enter = self.client.post("/sessions", json={"user": f"shopper-{id(self)}"}, name="enter")
        session = "/sessions/" + enter.json()["session"]["id"]
        browse = self.client.get(f"/products?category={category}&limit=8", name="browse").json()
        add = self.client.post(session + "/items", json={"product_id": browse["products"][0]["id"], "quantity": quantity}, name="add").json()
        coupons = self.client.get(session + "/coupons", name="coupons").json()
        order = self.client.post(session + "/orders", json={"coupon": coupons["eligible"][0]["id"], "total": add["cart"]["total"]}, name="order")
        journeys[0 if order.status_code == 201 else 1] += 1


@events.spawning_complete.add_listener
def began(user_count, **kwargs):
    first[0] = time.time()
    first.append(journeys[0])  # those before all users were there do not count for the rate


@events.quitting.add_listener
def report(environment, **kwargs):
    total = environment.stats.total
    rate = (journeys[0] - first[1]) / (total.last_request_timestamp - first[0])
    print(json.dumps({
        "requests": total.num_requests, "journeys": journeys[0], "failed": total.num_failures + journeys[1],
        "journeys/s": rate, "requests/s": 5 * rate,
    }), flush=True)
